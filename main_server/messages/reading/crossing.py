"""Looks across the walls between domains, by super-administrators: the audit log has them (I12)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.messages.reading.scope import Asked
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact


def note_crossing(
    engine: Engine,
    viewer: Viewer,
    action: str,
    asked: Asked,
    details: Mapping[str, Any],
    now: datetime,
) -> None:
    """Note a look before anything is shown. Whoever stays within their domain leaves no trace of
    looking."""
    if viewer.role is UserRole.SUPER_ADMIN:
        subject = asked.client_id or asked.domain or "every domain"
        entry = Entry(viewer.actor, action, subject, asked.domain, details)
        transact(engine, lambda connection: audit.append(connection, entry, now))
