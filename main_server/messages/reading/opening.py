"""Opening a message for a person. That it was opened is in the audit log before it is told (I7).

An administrator says why they open what is somebody else's. The log says whose the message was that
was opened, never what it says.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.decoding import Undecodable
from gatepost.errors import CannotOpen, FieldError, Invalid, NotFound
from gatepost.wire.content import Content, decode_content
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.keys.service import Keyring
from main_server.messages.reading import repository
from main_server.messages.reading.scope import is_own, may_see
from main_server.people.users.viewer import Viewer
from main_server.reasons import checked_words
from main_server.store.database import transact


class SealedRow(Protocol):
    """The parts of a row that are needed to open it."""

    @property
    def client_id(self) -> str: ...
    @property
    def domain(self) -> str: ...
    @property
    def key_id(self) -> int | None: ...
    @property
    def encrypted_body(self) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class Opening:
    """Somebody's wish to read a message, and why: in their own words, which the audit log keeps."""

    viewer: Viewer
    message_id: UUID
    reason: str = ""


def open_message(engine: Engine, keyring: Keyring, wanted: Opening, now: datetime) -> Content:
    """Open a message; raise NotFound for what the viewer may not see, and CannotOpen if nobody can
    read it any more."""
    sealed = transact(engine, lambda connection: _note(connection, wanted, now))
    return open_sealed(engine, keyring, wanted.message_id, sealed)


def open_sealed(engine: Engine, keyring: Keyring, message_id: UUID, row: SealedRow) -> Content:
    """Open a row; raise CannotOpen, or KeysUnavailable if it can't be told now."""
    if row.encrypted_body is None or row.key_id is None:
        raise CannotOpen("Nothing is kept of what was in this message.")
    content = keyring.open_row(
        engine, message_id, row.client_id, row.domain, row.key_id, row.encrypted_body
    )
    try:
        return decode_content(content)
    except Undecodable:
        raise CannotOpen() from None


def _note(connection: Connection, wanted: Opening, now: datetime) -> repository.Sealed:
    viewer, reason = wanted.viewer, checked_words(wanted.reason)
    sealed = repository.find_sealed(connection, wanted.message_id.bytes)
    if sealed is None or not may_see(viewer, sealed.client_id, sealed.domain):
        raise NotFound()
    if not reason and not is_own(viewer, sealed.client_id):
        words = "say why you open a message that isn't yours: it is kept in the audit log"
        raise Invalid(errors=[FieldError("/reason", words)])
    details = {"client_id": sealed.client_id, "reason": reason}
    entry = Entry(viewer.actor, "message.opened", str(wanted.message_id), sealed.domain, details)
    audit.append(connection, entry, now)
    return sealed
