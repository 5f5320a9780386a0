"""One certificate as administrators look at it: what it says, where it comes from, who uses it."""

from contextlib import suppress
from functools import partial
from ssl import DER_cert_to_PEM_cert

from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from gatepost.trust.certificates import Unreadable, read_certificate
from gatepost.trust.identity import Role
from gatepost.wire.holders import CertificateDetail
from main_server.ca.list_repository import Row, find_last_use, list_successors
from main_server.ca.listing import describe, show_certificate
from main_server.ca.online import OnlineCa
from main_server.ca.parts import hosts_of
from main_server.ca.requests import select
from main_server.people.administrator import Administrator
from main_server.store.database import transact


def find(engine: Engine, ca: OnlineCa, serial: str, asker: Administrator) -> Row:
    selection = select(engine, None, serial, None, asker.role, within=asker.domain)
    return show_certificate(engine, selection, ca.now())


def show(engine: Engine, ca: OnlineCa, serial: str, asker: Administrator) -> CertificateDetail:
    row = find(engine, ca, serial, asker)
    successors = transact(engine, partial(list_successors, holder=row.identity, serial=row.serial))
    used = None
    if row.role == Role.CLIENT and row.fingerprint is not None:
        client_id = row.identity.client_id
        read = partial(find_last_use, client_id=client_id, fingerprint=row.fingerprint)
        used = transact(engine, read)
    return CertificateDetail(
        **describe(row, ca.now()),
        hosts=_hosts(row.der),
        successors=successors,
        last_used_at=iso(to_ms(used)) if used else None,
        pem=DER_cert_to_PEM_cert(row.der) if row.der is not None else None,
    )


def _hosts(der: bytes | None) -> list[str]:
    """Return the certificate's hosts; none if it can't be read any more: what the ledger says of it
    can be."""
    with suppress(Unreadable):
        return hosts_of(read_certificate(der)) if der is not None else []
    return []
