"""Revoking: one transaction marks, numbers and signs; Redis is told; nothing ever goes back."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from redis.asyncio import Redis
from sqlalchemy import Engine, select, update

from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import CHANNEL, KEY, Reason, Revocations, decode_revocations
from infra.dev.engines import RedisServer
from main_server.ca.authority import (
    Authority,
    Order,
    Usage,
    load_authority,
    utc_now,
)
from main_server.ca.founding import init_authority
from main_server.ca.revocation import publish, release, renew_lists, revoke
from main_server.ca.revoked import repository
from main_server.ca.revoked.repository import Selection
from main_server.ca.service import issue
from main_server.store.database import transact
from main_server.store.tables import certificates, crls, revocation_state
from tests.factories import identity


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    init_authority(tmp_path / "ca", utc_now())
    return load_authority(tmp_path / "ca")


@pytest.fixture
async def redis(redis_url: str, redis_server: RedisServer) -> AsyncIterator[Redis]:
    """Empty, and as the main server may use it."""
    async with Redis.from_url(redis_server.url("gatepost_main")) as redis:
        yield redis


def order(holder: Identity | None = None, lifetime: timedelta = timedelta(days=1)) -> Order:
    return Order(holder or identity(name=f"c-{uuid4().hex[:12]}"), Usage.CLIENT, lifetime)


def serial_of(engine: Engine, authority: Authority, wanted: Order) -> str:
    return f"{issue(engine, authority, wanted, utc_now()).certificate.serial_number:032x}"


def read(engine: Engine) -> Revocations:
    return transact(engine, repository.read_revocations)


def list_of(engine: Engine, authority: Authority) -> x509.CertificateRevocationList:
    lists = [x509.load_der_x509_crl(der) for der in read(engine).crls]
    (crl,) = [one for one in lists if one.issuer == authority.certificate.subject]
    key = authority.certificate.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert crl.is_signature_valid(key)
    return crl


def number_of(crl: x509.CertificateRevocationList) -> int:
    return crl.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number


def status_of(engine: Engine, serial: str) -> tuple[str, str | None, int | None]:
    c = certificates.c
    query = select(c.status, c.revocation_reason, c.revocation_number).where(c.serial == serial)
    row = transact(engine, lambda con: con.execute(query).one())
    return row.status, row.revocation_reason, row.revocation_number


def forget_numbers(engine: Engine) -> None:
    transact(engine, lambda c: c.execute(update(revocation_state).values(number=1)))
    transact(engine, lambda c: c.execute(crls.delete()))


def test_it_marks_numbers_and_signs_at_once(engine: Engine, authority: Authority) -> None:
    mine, other = (serial_of(engine, authority, order()) for _ in range(2))
    before = read(engine).number
    done = revoke(
        engine, [authority], Selection(serial=mine), Reason.KEY_COMPROMISE, datetime.now(UTC)
    )
    assert done.serials == [mine]
    assert done.number == read(engine).number > before
    assert status_of(engine, mine) == ("revoked", "keyCompromise", done.number)
    assert status_of(engine, other)[0] == "active"
    crl = list_of(engine, authority)
    entry = crl.get_revoked_certificate_by_serial_number(int(mine, 16))
    assert entry is not None
    reason = entry.extensions.get_extension_for_class(x509.CRLReason).value.reason
    assert reason is x509.ReasonFlags.key_compromise
    assert crl.get_revoked_certificate_by_serial_number(int(other, 16)) is None


def test_the_list_says_until_when_it_may_be_gone_by(engine: Engine, authority: Authority) -> None:
    now = datetime.now(UTC)
    renew_lists(engine, [authority], now)
    crl = list_of(engine, authority)
    assert crl.next_update_utc == now.replace(microsecond=0) + timedelta(hours=24)
    assert crl.last_update_utc < now


def test_of_two_lists_in_the_same_second_the_later_one_is_newer(
    engine: Engine, authority: Authority
) -> None:
    now = datetime.now(UTC)
    found = []
    for _ in range(3):
        renew_lists(engine, [authority], now)
        found.append(list_of(engine, authority))
    numbers, times = [number_of(f) for f in found], [f.last_update_utc for f in found]
    assert numbers == sorted(set(numbers))
    assert times == sorted(set(times))


def test_numbers_rise_after_a_restore_and_when_the_clock_goes_back(
    engine: Engine, authority: Authority
) -> None:
    forget_numbers(engine)  # other tests live in the future
    now = datetime.now(UTC) + timedelta(minutes=1)
    first = renew_lists(engine, [authority], now)
    listed = number_of(list_of(engine, authority))
    assert renew_lists(engine, [authority], now - timedelta(hours=1)) > first
    assert number_of(list_of(engine, authority)) > listed
    forget_numbers(engine)  # a backup of the ledger from long ago
    later = renew_lists(engine, [authority], now + timedelta(seconds=1))
    assert later > first
    assert number_of(list_of(engine, authority)) > listed


def test_what_is_revoked_stays_as_it_is(engine: Engine, authority: Authority) -> None:
    serial = serial_of(engine, authority, order())
    where = Selection(serial=serial)
    first = revoke(engine, [authority], where, Reason.SUPERSEDED, datetime.now(UTC))
    again = revoke(engine, [authority], where, Reason.KEY_COMPROMISE, datetime.now(UTC))
    held = revoke(engine, [authority], where, Reason.CERTIFICATE_HOLD, datetime.now(UTC))
    assert again.serials == held.serials == []
    assert release(engine, [authority], where, datetime.now(UTC)).serials == []
    assert status_of(engine, serial) == ("revoked", "superseded", first.number)
    assert read(engine).number == first.number


def test_a_hold_ends_with_its_release(engine: Engine, authority: Authority) -> None:
    serial = serial_of(engine, authority, order())
    where = Selection(serial=serial)
    held = revoke(engine, [authority], where, Reason.CERTIFICATE_HOLD, datetime.now(UTC))
    assert status_of(engine, serial)[0] == "held"
    number = int(serial, 16)
    assert list_of(engine, authority).get_revoked_certificate_by_serial_number(number)
    released = release(engine, [authority], where, datetime.now(UTC))
    assert released.number > held.number
    assert status_of(engine, serial)[:2] == ("active", None)
    assert list_of(engine, authority).get_revoked_certificate_by_serial_number(number) is None


def test_all_certificates_of_a_name_go_and_no_other(engine: Engine, authority: Authority) -> None:
    holder = identity(name=f"c-{uuid4().hex[:12]}")
    mine = sorted(serial_of(engine, authority, order(holder)) for _ in range(2))
    namesake = Identity("example.org", holder.role, holder.name)
    other = serial_of(engine, authority, order(namesake))
    where = Selection(domain=holder.domain, role=holder.role, name=holder.name)
    assert revoke(engine, [authority], where, Reason.UNSPECIFIED, utc_now()).serials == mine
    assert status_of(engine, other)[0] == "active"


def test_what_has_expired_leaves_the_list(engine: Engine, authority: Authority) -> None:
    serial = serial_of(engine, authority, order(lifetime=timedelta(hours=1)))
    revoke(engine, [authority], Selection(serial=serial), Reason.UNSPECIFIED, utc_now())
    renew_lists(engine, [authority], utc_now() + timedelta(hours=2))
    crl = list_of(engine, authority)
    assert crl.get_revoked_certificate_by_serial_number(int(serial, 16)) is None


def test_a_selection_must_name_something() -> None:
    with pytest.raises(ValueError, match="name something"):
        Selection().condition()
    with pytest.raises(ValueError, match="more than a role"):
        Selection(role=Role.CLIENT).condition_of_change()


async def test_redis_is_told_and_never_goes_back(redis: Redis) -> None:
    async with redis.pubsub() as listener:
        await listener.subscribe(CHANNEL)
        await listener.get_message(timeout=1)
        assert await publish(redis, Revocations(7, [b"seven"]))
        message = await listener.get_message(ignore_subscribe_messages=True, timeout=5)
        assert message is not None
        assert message["data"] == b"7"
    assert not await publish(redis, Revocations(6, [b"six"]))
    assert not await publish(redis, Revocations(7, [b"other"]))
    kept = await redis.hget(KEY, "data")
    assert isinstance(kept, bytes)
    assert decode_revocations(kept).crls == [b"seven"]
    assert await publish(redis, Revocations(8, [b"eight"]))
    assert await redis.hget(KEY, "number") == b"8"
