"""Service keys: they turn in time, side by side, and nothing that was sealed becomes unreadable."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from gatepost.clock import Clock, to_ms
from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.logs import Log
from gatepost.wire.content import decode_content
from gatepost.wire.envelope import Envelope
from infra.dev.engines import MariaServer
from main_server.keys import loop, repository, service_keys
from main_server.keys.backup.content import read_backup
from main_server.keys.backup.form import Sealing
from main_server.keys.destroyed_repository import list_destroyed
from main_server.keys.lifetimes import MAX_LIFETIME, SEALING_TURN
from main_server.keys.loop import ClocksDiffer, keys_loop, take_turn
from main_server.keys.service import Keyring
from main_server.settings import Keys
from main_server.store.database import Ledger, transact
from tests.factories import BODY, NUMBER, changed
from tests.integration.main_server.keys.conftest import House, meanwhile, wait_for_locks

DAY = timedelta(days=1)


class Time:
    """The ledger's clock, as tests set it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, house: House) -> None:
        self.now: datetime = transact(house.engine, repository.read_time)
        monkeypatch.setattr(repository, "read_time", lambda _: self.now)

    def turn(self, house: House, ring: Keyring) -> list[tuple[str, str]]:
        events = take_turn(house.engine, ring, to_ms(self.now))
        return [(event, fields["purpose"]) for event, fields in events]


@pytest.fixture
def ledger_time(monkeypatch: pytest.MonkeyPatch, house: House) -> Time:
    return Time(monkeypatch, house)


def opened(ring: Keyring, envelope: Envelope) -> str:
    return decode_content(ring.open_envelope(envelope)).message_body


def test_a_message_sealed_under_a_key_of_another_main_server_is_readable_at_once(
    house: House,
) -> None:
    """Before this one's loop has come by."""
    other = house.main_server()
    service_keys.replace(house.engine, house.masters(), "sealing")
    other.refresh()
    envelope = replace(house.room, ring=other).envelope()
    assert other.sealing_key() != house.room.ring.sealing_key()
    assert opened(house.room.ring, envelope) == BODY


def test_what_was_sealed_before_a_turn_is_readable_after_it(house: House) -> None:
    envelope = house.envelope()
    for _ in range(3):
        service_keys.replace(house.engine, house.masters(), "sealing")
        house.room.ring.refresh()
        assert opened(house.room.ring, envelope) == opened(house.main_server(), envelope) == BODY


def test_a_key_that_is_nowhere_is_looked_for_once(house: House) -> None:
    """A flood of messages under a foreign key must not become a flood of queries."""
    ring, reads = house.main_server(), []
    real = ring._read
    ring._read = lambda: reads.append(1) or real()  # type: ignore[func-returns-value]
    unknown = of_another_key(house.envelope())
    for _ in range(50):
        with pytest.raises(CannotOpen):
            ring.open_envelope(unknown)
    assert len(reads) == 1


def of_another_key(envelope: Envelope) -> Envelope:
    sealed = envelope.sealed[:1] + bytes(8) + envelope.sealed[9:]
    changed_envelope: Envelope = changed(envelope, sealed=sealed)
    return changed_envelope


def test_it_turns_after_a_day_and_not_before(house: House, ledger_time: Time) -> None:
    ring = house.room.ring
    first = ring.sealing_key()
    ledger_time.now += SEALING_TURN - timedelta(minutes=5)  # the key is a moment older
    assert ledger_time.turn(house, ring) == []
    ledger_time.now += timedelta(minutes=5)
    assert ledger_time.turn(house, ring) == [("keys.replaced", "sealing")]
    assert ring.sealing_key() != first
    assert ledger_time.turn(house, ring) == []


def test_of_many_main_servers_one_turns_it(
    house: House, ledger_time: Time, keys_server: MariaServer
) -> None:
    """All find it due at the same moment, before the first of them has done it."""
    rings = [house.main_server() for _ in range(5)]
    ledger_time.now += SEALING_TURN
    with ThreadPoolExecutor(len(rings)) as pool:
        with house.engine.begin() as before_all:
            repository.own_master(before_all)
            turns = [pool.submit(ledger_time.turn, house, ring) for ring in rings]
            wait_for_locks(keys_server, len(rings))
        assert sum(len(turn.result(10)) for turn in turns) == 1
    for ring in rings:
        ring.refresh()
    assert len({ring.sealing_key().kid for ring in rings}) == 1
    assert len(house.service_keys()) == 2


def test_a_replaced_key_dies_a_lifetime_and_a_day_later_and_not_before(
    house: House, ledger_time: Time
) -> None:
    ring, made = house.room.ring, ledger_time.now
    envelope = house.envelope()
    ledger_time.now = made + DAY
    ledger_time.turn(house, ring)
    dies = made + DAY + MAX_LIFETIME + DAY

    ledger_time.now = dies - timedelta(seconds=5)
    ledger_time.turn(house, ring)
    assert opened(ring, envelope) == opened(house.main_server(), envelope) == BODY

    ledger_time.now = dies + timedelta(seconds=5)
    assert ("keys.destroyed", "sealing") in ledger_time.turn(house, ring)
    for one in (ring, house.main_server()):
        with pytest.raises(CannotOpen):
            one.open_envelope(envelope)
    assert [one.cause for one in transact(house.engine, list_destroyed)] == ["retired"]


def test_one_that_was_replaced_early_lives_until_no_edge_may_have_used_it(
    house: House, ledger_time: Time
) -> None:
    """A proxy that was cut off at that moment goes on with it until its two days are over."""
    ring, made = house.room.ring, ledger_time.now
    until = ring.sealing_key().use_until
    service_keys.replace(house.engine, house.masters(), "sealing")
    last = until + MAX_LIFETIME / timedelta(milliseconds=1)
    ledger_time.now = made + DAY + MAX_LIFETIME + timedelta(hours=1)
    ledger_time.turn(house, ring)
    assert to_ms(ledger_time.now) < last
    assert len(ring._known.private) == 3
    ledger_time.now = made + 2 * DAY + MAX_LIFETIME + timedelta(hours=1)
    assert to_ms(ledger_time.now) > last
    ledger_time.turn(house, ring)
    assert len(ring._known.private) == 3


def test_where_the_clocks_differ_nothing_is_replaced_or_destroyed(
    house: House, ledger_time: Time
) -> None:
    ours = to_ms(ledger_time.now)
    ledger_time.now += 300 * DAY
    with pytest.raises(ClocksDiffer):
        take_turn(house.engine, house.room.ring, ours)
    assert len(house.service_keys()) == 1


def test_a_master_key_that_is_not_there_is_no_reason_to_call_messages_unreadable(
    house: House,
) -> None:
    """The new sealing key is wrapped under a master key that this machine does not have yet."""
    envelope = house.envelope()
    other = house.main_server()
    service_keys.replace(house.engine, house.masters(), "sealing")
    other.refresh()
    newer = replace(house.room, ring=other).envelope()
    wrapped = text("UPDATE gatepost_keys.service_keys SET master_kid = 'elsewher'")
    transact(house.engine, lambda c: c.execute(wrapped))
    with pytest.raises(KeysUnavailable, match=b"elsewher".hex()):
        house.room.ring.open_envelope(newer)
    assert opened(house.room.ring, envelope) == BODY


def test_the_same_is_so_of_a_key_that_was_replaced(house: House) -> None:
    """It is there, only it can't be unwrapped now: its messages are not lost."""
    envelope = house.envelope()
    service_keys.replace(house.engine, house.masters(), "sealing")
    wrapped = text(
        "UPDATE gatepost_keys.service_keys SET master_kid = 'elsewher' WHERE retired_at IS NOT NULL"
    )
    transact(house.engine, lambda c: c.execute(wrapped))
    for ring in (house.main_server(), house.room.ring):
        ring.refresh()
        with pytest.raises(KeysUnavailable):
            ring.open_envelope(envelope)
        assert ring.problem is not None
        assert house.service_keys()[1].kid.hex() in ring.problem


def test_numbers_are_found_under_every_key_they_may_have_been_hashed_by(house: House) -> None:
    ring = house.room.ring
    first = ring.hash_number("example.com", NUMBER)
    service_keys.replace(house.engine, house.masters(), "number_mac")
    ring.refresh()
    second = ring.hash_number("example.com", NUMBER)
    assert first != second
    assert ring.number_hashes("example.com", NUMBER) == [second, first]
    assert ring.number_hashes("example.org", NUMBER)[0] != second


def test_the_key_of_the_edge_stays(house: House) -> None:
    """It is not rotated: a repeated post would not be recognised (I2)."""
    for purpose in ("sealing", "number_mac"):
        service_keys.replace(house.engine, house.masters(), purpose)
    assert house.main_server().edge_mac_key() == house.room.ring.edge_mac_key()
    assert len(house.service_keys("edge_mac")) == 1


def test_messages_flow_while_keys_turn_and_none_becomes_unreadable(house: House) -> None:
    """Two main servers, each with its own keyring that learns of the other's keys as it goes."""
    rooms = [house.room, house.other_room()]
    sent = []

    def post(n: int) -> None:
        envelope = rooms[n % 2].envelope()
        other = replace(rooms[n % 2], ring=rooms[(n + 1) % 2].ring)
        other.register(envelope)
        rooms[n % 2].deliver(envelope, send=False)
        sent.append(envelope)

    def deliver(n: int) -> None:
        envelope = rooms[n % 2].envelope()
        replace(rooms[n % 2], ring=rooms[(n + 1) % 2].ring).deliver(envelope)
        sent.append(envelope)

    with meanwhile(post, deliver) as something_more:
        for n in range(10):
            for purpose in ("sealing", "number_mac"):
                service_keys.replace(house.engine, house.masters(), purpose)
            rooms[n % 2].ring.refresh()
            something_more()
    assert house.statuses() == {"delivered": len(sent)}
    house.assert_readable(*sent)


async def test_the_loop_learns_turns_and_ends(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loop, "TURN_SECONDS", 0.02)
    monkeypatch.setattr("main_server.keys.lifetimes.SEALING_TURN", timedelta())
    ring, stop = house.room.ring, asyncio.Event()
    first = ring.sealing_key()
    settings = Keys(master_key_file=house.file, backup_file=house.folder / "keys.backup")
    ledger = Ledger(house.engine, 2)
    running = asyncio.create_task(
        keys_loop(stop, Log("main_server"), ledger, ring, Clock(), settings)
    )
    await until(lambda: ring.sealing_key() != first)
    await until((house.folder / "keys.backup").exists)
    stop.set()
    await asyncio.wait_for(running, 10)
    assert '"event":"keys.replaced"' in capsys.readouterr().out


async def test_a_days_new_key_is_soon_in_the_backup_that_is_kept(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "TURN_SECONDS", 0.02)
    monkeypatch.setattr(loop, "NEW_KEYS_SECONDS", 0.02)
    stop, file = asyncio.Event(), house.folder / "keys.backup"
    settings = Keys(master_key_file=house.file, backup_file=file)
    ledger, ring = Ledger(house.engine, 2), house.room.ring

    def kept() -> int:
        return len(read_backup(Sealing(house.masters()), file).data_keys) if file.exists() else -1

    running = asyncio.create_task(
        keys_loop(stop, Log("main_server"), ledger, ring, Clock(), settings)
    )
    await until(lambda: kept() == 0)
    await asyncio.to_thread(house.delivered, 1)
    await until(lambda: kept() == 1)
    stop.set()
    await asyncio.wait_for(running, 10)


async def test_the_loop_survives_what_goes_wrong_and_says_it_once(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loop, "TURN_SECONDS", 0.02)
    turns: list[int] = []
    monkeypatch.setattr(loop, "take_turn", lambda *_: turns.append(1) or take_turn(*_))  # type: ignore[func-returns-value]
    house.file.chmod(0o644)
    assert house.room.ring.problem is None
    stop = asyncio.Event()
    settings = Keys(master_key_file=house.file)
    ledger = Ledger(house.engine, 2)
    running = asyncio.create_task(
        keys_loop(stop, Log("main_server"), ledger, house.room.ring, Clock(), settings)
    )
    await until(lambda: len(turns) > 5)
    stop.set()
    await asyncio.wait_for(running, 10)
    said = capsys.readouterr().out
    assert said.count("keys.missed") == 1
    assert "chmod 400" in said


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
