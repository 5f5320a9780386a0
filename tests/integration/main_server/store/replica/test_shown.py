"""What people are shown, from a real replica: as long as it is there and near enough, with its age
where that is worth saying, and without anything that decides."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.insight.repository import Asked
from gatepost.insight.view import read_reports
from gatepost.loops import Loops
from infra.dev.engines import Engines
from main_server.keys.master import MasterKeys
from main_server.keys.service import Keyring, open_keyring
from main_server.messages.partitions import ensure_partitions
from main_server.settings import Replica
from main_server.store import schema as migrating
from main_server.store.database import Ledger, create_replica_engine, transact
from main_server.store.replica import shown as module
from main_server.store.replica.shown import Shown, open_shown
from main_server.store.rights import grant_showing, parse_account
from tests.heard import HeardLog, until
from tests.integration.main_server.conftest import KEYS_SCHEMA, MASTER, engine_of
from tests.integration.main_server.new_people import People
from tests.integration.main_server.office import Office, opened_office
from tests.integration.main_server.town import Town, found_town
from tests.replication import Pair, replicated, root_of

WAIT = 20.0
PASSWORD = "for a test alone"


@dataclass
class House:
    """A ledger and its replica, a town in it, and somebody who looks on."""

    pair: Pair
    engine: Engine
    ring: Keyring
    town: Town
    person: People

    @property
    def settings(self) -> Replica:
        port, password = self.pair.replica.port, SecretStr(PASSWORD)
        return Replica(port=port, password=password, longest_lag=2)

    def stop_following(self) -> None:
        self.pair.ask_replica("STOP SLAVE SQL_THREAD")

    def follow(self) -> None:
        self.pair.ask_replica("START SLAVE SQL_THREAD")


@pytest.fixture(scope="module")
def house(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("replicated")
    with replicated(engines, folder) as pair:
        migrator = engine_of(pair.primary.url("gatepost_migrate"))
        migrating.upgrade(migrator, KEYS_SCHEMA)
        with root_of(pair.primary).connect() as connection:
            user = f"CREATE USER gatepost_showing@127.0.0.1 IDENTIFIED BY '{PASSWORD}'"
            connection.execute(text(user))
        grant_showing(migrator, parse_account("gatepost_showing@127.0.0.1"))
        migrator.dispose()
        engine = engine_of(pair.primary.url("gatepost_main"))
        ensure_partitions(engine, datetime.now(UTC).date())
        ring = open_keyring(engine, MasterKeys(lambda: [MASTER]))
        town = found_town(engine, ring)
        person = People(engine, domain=town.domain)
        person.with_password(client_ids=frozenset({f"{town.domain}:a"}))
        pair.catch_up()
        yield House(pair, engine, ring, town, person)
        engine.dispose()


@dataclass
class Desk:
    """Somebody at the portal, and how what they see is read."""

    office: Office
    token: str
    shown: Shown
    log: HeardLog

    async def get(self, path: str) -> dict[str, Any]:
        answer = await self.office.ask(self.token, "GET", path)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def shows_what_is_new(self) -> None:
        """Wait until a page has no need to say how old it is."""
        async with asyncio.timeout(WAIT):
            while (await self.get("/messages"))["as_of"] is not None:
                pass

    async def listed(self) -> list[str]:
        page = await self.get("/messages")
        return [one["message_id"] for one in page["messages"]]


@asynccontextmanager
async def desk(house: House) -> AsyncIterator[Desk]:
    log, stop = HeardLog(), asyncio.Event()
    shown = open_shown(log, Ledger(house.engine, 2), Clock(), house.settings)
    async with opened_office(house.engine, house.ring, shown) as office, Loops(stop) as loops:
        loops.start(shown.pulse_loop(stop))
        try:
            await until(lambda: shown.problem is None, WAIT)
            yield Desk(office, await office.token(house.person), shown, log)
        finally:
            stop.set()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds in less of them."""
    monkeypatch.setattr(module, "PULSE_SECONDS", 0.05)
    monkeypatch.setattr(module, "WORTH_SAYING_MS", 500)


@pytest.fixture
def held(house: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What comes from now on does not get to the replica; and that is not too far behind."""
    monkeypatch.setattr(House, "settings", house.settings.model_copy(update={"longest_lag": 600}))
    yield
    house.follow()
    house.pair.catch_up()


def sent(house: House) -> str:
    (made,) = house.town.send()
    return str(made)


def deliver(house: House, message_id: str) -> None:
    query = text(
        "UPDATE messages SET status = 'delivered', delivered_at = UTC_TIMESTAMP(3)"
        " WHERE message_id = :id"
    )
    transact(house.engine, lambda c: c.execute(query, {"id": UUID(message_id).bytes}))


async def test_a_list_is_of_the_replica_with_numbers_by_the_keys_of_the_ledger(
    house: House, held: None
) -> None:
    known = sent(house)
    house.pair.catch_up()
    async with desk(house) as one:
        house.stop_following()
        later = sent(house)
        page = await one.get("/messages")
    ids = [m["message_id"] for m in page["messages"]]
    assert known in ids
    assert later not in ids, "the ledger has it, the replica has not"
    assert page["messages"][0]["sender_number_masked"].startswith("+")
    keys = house.pair.ask_replica(f"SELECT COUNT(*) AS n FROM {KEYS_SCHEMA}.data_keys")
    assert keys == {"n": 0}


async def test_a_page_says_how_old_it_is_once_that_is_worth_it(house: House, held: None) -> None:
    async with desk(house) as one:
        await one.shows_what_is_new()
        house.stop_following()
        await until(one.shown.as_of, WAIT)
        told = (await one.get("/messages"))["as_of"]
        age = datetime.now(UTC) - datetime.fromisoformat(told)
        assert 0.4 < age.total_seconds() < WAIT
        house.follow()
        await one.shows_what_is_new()
        assert "replica.passed_over" not in one.log.events()


async def test_one_that_has_ended_is_of_the_replica_and_else_the_ledger_tells(
    house: House, held: None
) -> None:
    ended, waiting = sent(house), sent(house)
    deliver(house, ended)
    house.pair.catch_up()
    async with desk(house) as one:
        house.stop_following()
        await until(one.shown.as_of, WAIT)
        deliver(house, waiting)
        new = sent(house)
        deliver(house, new)
        story = await one.get(f"/messages/{ended}")
        assert (story["status"], story["as_of"] is None) == ("delivered", False)
        for message_id in (waiting, new):
            story = await one.get(f"/messages/{message_id}")
            assert (story["status"], story["as_of"]) == ("delivered", None)


async def test_who_is_signed_out_is_so_at_once_and_opens_are_of_the_ledger(
    house: House, held: None
) -> None:
    async with desk(house) as one:
        house.stop_following()
        new = sent(house)
        opened = await one.office.ask(one.token, "POST", f"/messages/{new}/open", reason="")
        assert opened.status_code == 200, opened.text
        signed_out = await one.office.ask(one.token, "DELETE", "/session")
        assert signed_out.status_code < 300, signed_out.text
        refused = await one.office.ask(one.token, "GET", "/messages")
        assert refused.status_code == 401


async def test_one_that_is_too_far_behind_is_passed_over(house: House) -> None:
    async with desk(house) as one:
        house.stop_following()
        later = sent(house)
        try:
            await until(lambda: one.shown.problem, WAIT)
            assert "behind" in str(one.shown.problem)
            page = await one.get("/messages")
            assert (page["messages"][0]["message_id"], page["as_of"]) == (later, None)
        finally:
            house.follow()
        await until(lambda: one.shown.problem is None, WAIT)
        assert one.log.events() == ["replica.asked", "replica.passed_over", "replica.asked"]


async def test_without_the_replica_the_ledger_is_asked_and_with_it_again(house: House) -> None:
    async with desk(house) as one:
        house.pair.replica.kill()
        later = sent(house)
        assert (await one.listed())[0] == later, "at the first question already"
        await until(lambda: one.shown.problem, WAIT)
        assert (await one.listed())[0] == later
        await asyncio.to_thread(house.pair.replica.launch)
        await asyncio.to_thread(house.pair.replica.wait)
        await until(lambda: one.shown.problem is None, WAIT)
        await asyncio.to_thread(house.pair.catch_up)
        assert (await one.listed())[0] == later


async def test_one_that_hangs_costs_a_moment_and_is_passed_over(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REPLICA_SECONDS", 0.3)
    async with desk(house) as one:
        os.kill(house.pair.replica.pid, signal.SIGSTOP)
        try:
            later = sent(house)
            async with asyncio.timeout(WAIT):
                assert (await one.listed())[0] == later
            await until(lambda: one.shown.problem, WAIT)
        finally:
            os.kill(house.pair.replica.pid, signal.SIGCONT)
        await until(lambda: one.shown.problem is None, WAIT)


async def test_a_question_that_is_slow_by_itself_holds_nobody_elses_up(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def search(engine: Engine) -> str:
        asked.append("ledger" if engine is house.engine else "replica")
        if engine is not house.engine:
            transact(engine, lambda c: c.execute(text("SELECT SLEEP(3)")))
        return "found"

    async with desk(house) as one:
        monkeypatch.setattr(module, "REPLICA_SECONDS", 1.0)
        assert await one.shown.run(search) == "found"
        assert (asked, one.shown.problem) == (["replica", "ledger"], None)
        assert one.log.events() == ["replica.asked", "replica.passed_over"]
        assert await one.shown.run(lambda engine: engine is not house.engine), "it is asked again"


async def test_its_user_reads_what_is_shown_and_nothing_else(house: House) -> None:
    engine = create_replica_engine(house.settings)
    days = (datetime.now(UTC).date(),) * 2
    assert transact(engine, lambda c: read_reports(c, Asked(*days, house.town.domain))).groups == []
    for wrong in (
        "SELECT * FROM sessions",
        "SELECT * FROM users",
        "SELECT * FROM audit_log",
        f"SELECT * FROM {KEYS_SCHEMA}.service_keys",
        "UPDATE messages SET status = 'failed'",
    ):
        with pytest.raises(SQLAlchemyError):
            transact(engine, lambda c, wrong=wrong: c.execute(text(wrong)))  # type: ignore[misc]
    engine.dispose()


async def test_without_a_replica_all_is_of_the_ledger(house: House) -> None:
    shown = Shown(HeardLog(), Ledger(house.engine, 1), Clock())
    await shown.pulse_loop(asyncio.Event())
    assert (shown.problem, shown.as_of()) == (None, None)
    assert await shown.run(lambda engine: engine is house.engine)
