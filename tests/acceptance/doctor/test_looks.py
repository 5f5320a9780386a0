"""Each thing is made wrong on a running stack: its look turns, and no other does."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
import redis
import yaml
from cryptography import x509
from redis.asyncio import Redis
from sqlalchemy import Engine, text

from gatepost.cli.doctor.look import State
from gatepost.cli.doctor.typed import AGAIN
from gatepost.clock import Clock
from gatepost.ids import MessageIds, first_id_at
from gatepost.queue import Entry, Queues
from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import Revocations, encode_revocations
from infra.dev.stack import Stack
from main_server.ca.authority import Order, Usage, load_authority, utc_now
from main_server.ca.crl_file import write_crl_file
from main_server.messages.partitions import ensure_partitions, partition_name
from main_server.store import schema as migrating
from main_server.store.database import transact
from main_server.tenants.pauses.repository import Pause, What, add, remove
from tests.acceptance.doctor.conftest import Troubles
from tests.acceptance.site import Site, accepted, eventually, post
from tests.backups import put_backup
from tests.factories import HOSTS
from tests.integration.main_server.conftest import engine_of
from tests.unit.docs.names import wrong_with_command

Look = Callable[..., Troubles]
NOW = datetime.now(UTC)


def only(found: Troubles, name: str, state: State = State.WRONG) -> str:
    """What was found, if it is of this look alone; its command can be typed."""
    said = {look: [one.finding.found for one in seen] for look, seen in found.items()}
    assert set(found) == {name}, said
    assert {one.finding.state for one in found[name]} == {state}
    for one in found[name]:
        assert one.command is not None
        assert wrong_with_command(one.command) is None
    return "; ".join(said[name])


@pytest.fixture
def root(patient: Stack, site: Site) -> Iterator[Engine]:
    """The database's own administrator."""
    passwords = json.loads((patient.place.folder / "mariadb" / "passwords.json").read_text())
    place = f"127.0.0.1:{site.engine.url.port}"
    engine = engine_of(f"mysql+pymysql://root:{passwords['root']}@{place}/mysql")
    yield engine
    engine.dispose()


def put(root: Engine, setting: str) -> None:
    transact(root, lambda connection: connection.execute(text(f"SET GLOBAL {setting}")))


@contextmanager
def instead(file: Path, data: bytes) -> Iterator[None]:
    """The file holds something else for a while."""
    before = file.read_bytes() if file.exists() else None
    draft = file.with_name(f".{file.name}.draft")
    try:
        draft.write_bytes(data)
        draft.chmod(0o600)
        draft.replace(file)
        yield
    finally:
        if before is None:
            file.unlink()
        else:
            draft.write_bytes(before)
            draft.chmod(0o600)
            draft.replace(file)


def test_a_healthy_stack_is_all_fine(troubles: Look) -> None:
    assert troubles() == {}


def test_a_machine_that_has_a_proxy_alone(troubles: Look, patient: Stack, tmp_path: Path) -> None:
    (tmp_path / "proxy").mkdir()
    (tmp_path / "proxy" / "config.yaml").symlink_to(patient.place.config / "proxy.yaml")
    assert troubles(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "value", "good", "look"),
    [
        ("appendfsync", "everysec", "always", "redis-persistence"),
        ("maxmemory-policy", "allkeys-lru", "noeviction", "redis-eviction"),
    ],
)
def test_redis_set_up_to_lose(
    troubles: Look, operator: "redis.Redis", name: str, value: str, good: str, look: str
) -> None:
    operator.config_set(name, value)
    try:
        found = troubles()
    finally:
        operator.config_set(name, good)
    assert name in only(found, look)
    assert found[look][0].command == AGAIN


def test_a_redis_that_may_grow_without_end(troubles: Look, operator: "redis.Redis") -> None:
    most = operator.config_get("maxmemory")["maxmemory"]
    operator.config_set("maxmemory", 0)
    try:
        assert "maxmemory" in only(troubles(), "redis-memory", State.WARNING)
    finally:
        operator.config_set("maxmemory", str(most))


def test_a_ledger_set_up_to_lose(troubles: Look, root: Engine) -> None:
    for bad, good in (
        ("innodb_flush_log_at_trx_commit = 2", "innodb_flush_log_at_trx_commit = 1"),
        ("slow_query_log = ON", "slow_query_log = OFF"),
    ):
        put(root, bad)
        try:
            found = troubles()
        finally:
            put(root, good)
        assert bad.split(" ")[0] in only(found, "ledger-settings")
        assert found["ledger-settings"][0].command == AGAIN


def test_a_key_that_others_can_read(troubles: Look, patient: Stack) -> None:
    key = patient.place.pki / "proxy.key"
    key.chmod(0o644)
    try:
        found = troubles()
    finally:
        key.chmod(0o600)
    assert "can be read by others" in only(found, "secrets", State.WARNING)
    assert found["secrets"][0].command == f"chmod 600 {key}"


def test_an_expired_certificate(troubles: Look, patient: Stack, site: Site) -> None:
    """Of the portal's port: to browsers alone, so nobody else minds."""
    authority = load_authority(patient.place.folder / "ca")
    old = x509.load_pem_x509_certificate((patient.place.pki / "portal.pem").read_bytes())
    order = Order(Identity("gatepost", Role.PORTAL, "old"), Usage.SERVER, timedelta(days=30), HOSTS)
    long_ago = utc_now() - timedelta(days=60)
    expired = authority.sign(order, old.public_key(), 1 << 126, long_ago)  # type: ignore[arg-type]
    key = patient.place.pki / "portal.key"
    with (
        instead(key, key.read_bytes()),
        instead(patient.place.pki / "portal.pem", authority.chain(expired)),
    ):
        found = troubles()
        assert "expired 30 days ago" in only(found, "certificates")
        type_(found["certificates"][0].command)
        assert troubles() == {}


def type_(command: str | None) -> None:
    """As it is printed, in the folder that doctor was run in."""
    assert command is not None
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"


def test_workers_that_stand_still(troubles: Look, site: Site) -> None:
    """To be started again, for they do run."""
    frozen = site.pids("worker")
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        found = troubles()
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    assert "worker does not answer" in only(found, "services")
    assert found["services"][0].command == AGAIN
    site.wait_ready()


def old_list(patient: Stack, age: timedelta) -> bytes:
    authority = load_authority(patient.place.folder / "ca")
    made = utc_now() - age
    builder = x509.CertificateRevocationListBuilder().last_update(made)
    builder = builder.next_update(made + timedelta(hours=24))
    builder = builder.add_extension(x509.CRLNumber(1), critical=False)
    return authority.sign_crl(builder)


def test_an_old_list_of_what_is_revoked(troubles: Look, patient: Stack) -> None:
    revocations = Revocations(1, [old_list(patient, timedelta(hours=30))])
    file = patient.place.folder / "crl" / "revoked.pem"
    with instead(file, file.read_bytes()):
        write_crl_file(file, revocations)
        only(troubles(), "revoked")
    kept = patient.place.folder / "proxy" / "revocations.msgpack"
    with instead(kept, encode_revocations(revocations)):
        only(troubles(), "edge-revoked")


def test_a_proxy_that_keeps_nothing(troubles: Look, patient: Stack) -> None:
    with instead(patient.place.folder / "proxy" / "bundle.json", b"{"):
        only(troubles(), "bundle")


def test_a_master_key_that_opens_nothing(troubles: Look, patient: Stack) -> None:
    with instead(patient.place.secrets / "master.key", os.urandom(32)):
        assert "under a master key" in only(troubles(), "keys")


def test_a_row_behind_the_last_day(troubles: Look, site: Site) -> None:
    with site.calling() as client:
        message_id = accepted(post(client))
    site.wait_delivered(message_id)
    beyond = first_id_at(int((NOW + timedelta(days=400)).timestamp() * 1000))
    row = dict(site.row(message_id) or {}) | {"message_id": beyond}
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    insert = text(f"INSERT INTO messages ({names}) VALUES ({values})")
    transact(site.engine, lambda c: c.execute(insert, row))
    try:
        found = troubles()
    finally:
        delete = text("DELETE FROM messages WHERE message_id = :id")
        transact(site.engine, lambda c: c.execute(delete, {"id": beyond}))
    assert f"{NOW + timedelta(days=400):%Y-%m-%d}" in only(found, "last-partition")


def test_partitions_that_nobody_has_made(troubles: Look, site: Site) -> None:
    days = [partition_name((NOW + timedelta(days=n)).date()) for n in range(2, 15)]
    drop = text(f"ALTER TABLE attempts DROP PARTITION {', '.join(days)}")
    transact(site.engine, lambda c: c.execute(drop))
    try:
        found = troubles()
    finally:
        ensure_partitions(site.engine, NOW.date())
    said = only(found, "partitions")
    assert said == "attempts: there are partitions for 1 day ahead"


def test_a_partition_that_is_missing_in_the_middle(troubles: Look, site: Site) -> None:
    """It is made as all others are."""
    day = (NOW + timedelta(days=5)).date()
    drop = text(f"ALTER TABLE messages DROP PARTITION {partition_name(day)}")
    transact(site.engine, lambda c: c.execute(drop))
    try:
        found = troubles()
    finally:
        made = ensure_partitions(site.engine, NOW.date())
    assert only(found, "partitions") == f"messages: there is no partition of {day}"
    assert made == [day]
    assert troubles() == {}


def test_a_ledger_of_an_earlier_release(troubles: Look, site: Site) -> None:
    stamp = text("UPDATE alembic_version SET version_num = :revision")
    transact(site.engine, lambda c: c.execute(stamp, {"revision": "0001"}))
    try:
        found = troubles()
    finally:
        transact(site.engine, lambda c: c.execute(stamp, {"revision": migrating.head()}))
    assert "the ledger is 0001" in only(found, "ledger-schema")


@contextmanager
def no_reconciler(root: Engine) -> Iterator[None]:
    """Somebody else leads, and does nothing: no main server does."""
    lock = "gatepost.reconciler"
    with root.connect() as connection, root.connect() as other:

        def leads() -> bool:
            holder = other.scalar(text("SELECT IS_USED_LOCK(:name)"), {"name": lock})
            if holder is not None:
                other.execute(text(f"KILL {int(holder)}"))
            got = connection.scalar(text("SELECT GET_LOCK(:name, 1)"), {"name": lock})
            return bool(got)

        eventually(leads, "it leads")
        yield
        connection.invalidate()


def test_a_message_that_the_queue_has_lost(troubles: Look, site: Site, root: Engine) -> None:
    with site.calling() as client:
        message_id = accepted(post(client))
    site.wait_delivered(message_id)
    where = "WHERE message_id = UNHEX(REPLACE(:id, '-', ''))"
    lose = text(f"UPDATE messages SET status = 'queued', delivered_at = NULL {where}")
    mend = text(f"UPDATE messages SET status = 'delivered', delivered_at = queued_at {where}")
    past = text(f"UPDATE messages SET due_at = due_at - INTERVAL 1 MINUTE {where}")
    with no_reconciler(root):
        transact(site.engine, lambda c: c.execute(past, {"id": message_id}))
        transact(site.engine, lambda c: c.execute(lose, {"id": message_id}))
        try:
            found = troubles()
        finally:
            transact(site.engine, lambda c: c.execute(mend, {"id": message_id}))
    assert "the queue does not know 1" in only(found, "queue-lost")


async def test_a_message_that_redis_alone_has(troubles: Look, site: Site, root: Engine) -> None:
    now = Clock().now_ms()  # a worker would take what falls due
    id_ = UUID(int=(now - 60_000) << 80 | MessageIds(Clock()).new().int % 2**80)
    async with Redis.from_url(site.status["redis"]) as client:
        queue = Queues(client, "message_queue").named(None)
        entry = Entry(id_.bytes, b"{}", due_at=now + 10**6, exposed=True)
        with no_reconciler(root):
            for _ in range(5):  # a round that had begun may still take one or two away
                await queue.enqueue([entry])
                try:
                    found = await asyncio.to_thread(troubles)
                finally:
                    await queue.remove([id_.bytes])
                if found:
                    break
        await queue.aclose()
    only(found, "queue-exposed")


def test_what_was_paused_and_forgotten(troubles: Look, site: Site) -> None:
    since = NOW.replace(tzinfo=None) - timedelta(days=2)
    for what, name, command in (
        (What.QUEUE, "nobodys:messages", "gatepost queue resume nobodys:messages"),
        (What.INTAKE, "nowhere.example", "gatepost intake resume nowhere.example"),
    ):
        pause = Pause(what.value, name, "for a moment", "shell:root", since)
        transact(site.engine, lambda c, pause=pause: add(c, pause))  # type: ignore[misc]
        try:
            found = troubles()
        finally:
            transact(site.engine, lambda c, w=what, n=name: remove(c, w, n))  # type: ignore[misc]
        assert f"{name} is paused since" in only(found, "pauses", State.WARNING)
        assert command in (found["pauses"][0].command or "")


def test_backups_of_long_ago(troubles: Look, patient: Stack, tmp_path: Path) -> None:
    backups, metrics = tmp_path / "backups", tmp_path / "metrics"
    metrics.mkdir()
    secret = tmp_path / "passphrase"
    secret.write_text("long and never said")
    secret.chmod(0o600)
    main_server = yaml.safe_load((patient.place.config / "main_server.yaml").read_text())
    settings = {
        "environment": "development",
        "database": main_server["database"],
        "store": {"folder": str(backups), "passphrase_file": str(secret)},
        "metrics_folder": str(metrics),
    }
    drilled = metrics / "gatepost_backup_drill_last_success.prom"
    name = "gatepost_backup_drill_last_success_timestamp_seconds"
    with instead(patient.place.config / "backup.yaml", yaml.safe_dump(settings).encode()):
        drilled.write_text(f"# TYPE {name} gauge\n{name} {NOW.timestamp()}\n")
        assert "never yet" in only(troubles(), "backup")
        put_backup(backups, "long and never said", NOW - timedelta(days=3))
        assert "a backup was made 3 days ago" in only(troubles(), "backup")
        put_backup(backups, "long and never said", NOW)
        secret.chmod(0o644)
        assert "can be read by others" in only(troubles(), "secrets", State.WARNING)
        secret.chmod(0o600)
        drilled.write_text(f"# TYPE {name} gauge\n{name} {NOW.timestamp() - 20 * 86400}\n")
        only(troubles(), "backup-drill", State.WARNING)
    shutil.rmtree(backups)


def test_with_the_stores_frozen_the_rest_is_told_in_time(
    troubles: Look, site: Site, patient: Stack
) -> None:
    """The services that wait for them say so as well."""
    pids = [site.pids("redis")[0], site.pids("mariadb")[0]]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        found = troubles()
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert {one.finding.state for name in ("redis", "ledger") for one in found[name]} == {
        State.WRONG
    }
    assert {one.finding.state for one in found["partitions"]} == {State.UNKNOWN}
    assert found.keys().isdisjoint({"settings", "secrets", "certificates", "ports", "core-dumps"})
    site.wait_ready()
