"""Issuing: the intent is in the ledger before the signature, so that nothing escapes revocation."""

import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from sqlalchemy import Engine, select, update

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.errors import Unavailable, UnknownCertificate
from gatepost.trust.identity import Identity, Role
from gatepost.wire.renewal import SURE_SECONDS
from main_server.ca import repository
from main_server.ca.authority import (
    Authority,
    Order,
    Usage,
    load_authority,
    utc_now,
)
from main_server.ca.callers import Callers, read_callers
from main_server.ca.founding import init_authority
from main_server.ca.service import issue
from main_server.messages.edge import repository as edge
from main_server.store.database import transact
from main_server.store.tables import certificates
from main_server.tenants.clients import repository as clients
from tests.factories import identity


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    folder: Path = tmp_path_factory.mktemp("ca")
    init_authority(folder, utc_now())
    return load_authority(folder)


def order(holder: Identity | None = None, lifetime: timedelta = timedelta(days=1)) -> Order:
    return Order(holder or identity(name=f"c-{uuid4().hex[:12]}"), Usage.CLIENT, lifetime)


def rows_of(engine: Engine, holder: Identity) -> list[dict[str, Any]]:
    query = select(certificates).where(certificates.c.name == holder.name)
    return [dict(row) for row in transact(engine, lambda c: c.execute(query).mappings().all())]


def ledger_time(moment: datetime) -> datetime:
    return from_ms(to_ms(moment))


def known(engine: Engine, now: datetime | None = None) -> dict[str, Identity]:
    moment = ledger_time(now or utc_now())
    found = transact(engine, lambda c: repository.list_known(c, list(Role), moment))
    return {one.fingerprint: one.identity for one in found}


def fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(SHA256()).hex()


def test_the_intent_is_written_before_the_signature_is_made(
    engine: Engine, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = order()
    seen: list[dict[str, Any]] = []
    real = Authority.sign

    def look_and_issue(self: Authority, *given: Any) -> Any:
        seen.extend(rows_of(engine, wanted.identity))  # by another connection: it is committed
        return real(self, *given)

    monkeypatch.setattr(Authority, "sign", look_and_issue)
    issued = issue(engine, authority, wanted, utc_now())
    (intent,) = seen
    assert intent["status"] == "intended"
    assert intent["fingerprint"] is None
    assert int(intent["serial"], 16) == issued.certificate.serial_number


def test_what_was_issued_is_known_as_what_it_says(engine: Engine, authority: Authority) -> None:
    wanted = order()
    issued = issue(engine, authority, wanted, utc_now())
    (row,) = rows_of(engine, wanted.identity)
    assert row["status"] == "active"
    assert row["fingerprint"].hex() == fingerprint(issued.certificate)
    assert row["not_after"] == issued.certificate.not_valid_after_utc.replace(tzinfo=None)
    assert known(engine)[fingerprint(issued.certificate)] == wanted.identity


def test_what_was_never_signed_is_not_known(
    engine: Engine, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any) -> None:
        raise RuntimeError("the power goes out here")

    monkeypatch.setattr(Authority, "sign", fail)
    wanted = order()
    with pytest.raises(RuntimeError):
        issue(engine, authority, wanted, utc_now())
    (row,) = rows_of(engine, wanted.identity)
    assert row["status"] == "intended"
    assert wanted.identity not in known(engine).values()


def test_what_has_expired_or_was_revoked_is_not_known(engine: Engine, authority: Authority) -> None:
    short, revoked = order(lifetime=timedelta(hours=1)), order()
    one = fingerprint(issue(engine, authority, short, utc_now()).certificate)
    two = fingerprint(issue(engine, authority, revoked, utc_now()).certificate)
    assert {one, two} <= set(known(engine))
    assert one not in known(engine, utc_now() + timedelta(hours=1, seconds=1))
    statement = update(certificates).where(certificates.c.name == revoked.identity.name)
    transact(engine, lambda c: c.execute(statement.values(status="revoked")))
    assert two not in known(engine)


def test_a_certificate_may_be_activated_once(engine: Engine, authority: Authority) -> None:
    wanted = order()
    issue(engine, authority, wanted, utc_now())
    (row,) = rows_of(engine, wanted.identity)
    transact(engine, lambda c: repository.activate(c, row["serial"], b"x" * 32, b"other"))
    assert rows_of(engine, wanted.identity) == [row]


def test_callers_are_found_by_their_fingerprint(engine: Engine, authority: Authority) -> None:
    wanted = order(Identity("gatepost", Role.WORKER, f"w-{uuid4().hex[:8]}"))
    issued = issue(engine, authority, wanted, utc_now())
    callers = Callers()
    with pytest.raises(Unavailable):
        callers.find(fingerprint(issued.certificate))
    known = read_callers(engine, Clock())
    callers.learn(known, time.monotonic())
    assert callers.find(fingerprint(issued.certificate)) == wanted.identity
    with pytest.raises(UnknownCertificate):
        callers.find("00" * 32)
    callers.learn(known, time.monotonic() - SURE_SECONDS - 0.1)
    assert callers.find(fingerprint(issued.certificate)) == wanted.identity
    with pytest.raises(Unavailable):
        callers.find("00" * 32)


def test_the_edge_knows_clients_with_their_limits_and_nobody_else(
    engine: Engine, authority: Authority
) -> None:
    now = ledger_time(utc_now())
    client = identity(name=f"c-{uuid4().hex[:12]}")
    transact(engine, lambda c: clients.add(c, client, 7, 70, now))
    certificate = issue(engine, authority, order(client), utc_now()).certificate
    # A proxy of the same name, and a client's certificate that no client stands behind.
    proxy = Identity(client.domain, Role.PROXY, client.name)
    issue(engine, authority, order(proxy), utc_now())
    orphan = issue(engine, authority, order(), utc_now()).certificate
    found = {one.fingerprint: one for one in transact(engine, lambda c: edge.list_clients(c, now))}
    assert fingerprint(orphan) not in found
    (mine,) = [one for one in found.values() if one.name == client.name]
    assert mine.fingerprint == fingerprint(certificate)
    assert (mine.rate_per_second, mine.burst, mine.identity) == (7, 70, client)


def test_a_client_is_added_once_and_keeps_its_limits(engine: Engine) -> None:
    now = ledger_time(utc_now())
    client = identity(name=f"c-{uuid4().hex[:12]}")
    transact(engine, lambda c: clients.add(c, client, 1, 1, now))
    transact(engine, lambda c: clients.add(c, client, 2, 2, now))
    query = "SELECT rate_per_second FROM clients WHERE name = %s"
    with engine.connect() as connection:
        found = connection.exec_driver_sql(query, (client.name,)).scalars().all()
    assert found == [1]
