"""Certificates as documents, for the CLI and for administrators alike."""

from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import NotFound
from main_server.ca.holders import SERIAL, check_after
from main_server.ca.list_repository import Filter, Row, list_rows
from main_server.ca.revoked.repository import Selection
from main_server.store.database import transact
from main_server.tenants.names import check_names


def list_certificates(engine: Engine, wanted: Filter, now: datetime) -> list[Row]:
    check_names(wanted.selection.domain, wanted.selection.name)
    check_after(wanted.after, SERIAL)
    return transact(engine, partial(list_rows, wanted=wanted, now=now))


def show_certificate(engine: Engine, selection: Selection, now: datetime) -> Row:
    """Return the selected certificate; raise NotFound unless there is one."""
    found = list_certificates(engine, Filter(selection, limit=1), now)
    if not found:
        raise NotFound("No such certificate is in the ledger.")
    return found[0]


def describe(row: Row, now: datetime) -> dict[str, Any]:
    times = {
        "not_before": row.not_before,
        "not_after": row.not_after,
        "created_at": row.created_at,
        "revoked_at": row.revoked_at,
    }
    return {
        "serial": row.serial,
        "fingerprint": row.fingerprint.hex() if row.fingerprint else None,
        "identity": row.identity.uri,
        "domain": row.domain,
        "role": row.role,
        "name": row.name,
        "status": row.status_at(now).value,
        "issuer": row.issuer,
        "anchor": row.anchor.hex() if row.anchor else None,
        **{name: iso(to_ms(time)) if time else None for name, time in times.items()},
        "reason": row.revocation_reason,
        "usage": row.used_for,
        "origin": row.origin,
        "actor": row.actor,
        "predecessor": row.predecessor,
    }
