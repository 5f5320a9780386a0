"""One collection from real stores: what processes say over Redis, what waits there, and what the
ledger knows; and what is left of it while a store is away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from sqlalchemy import Engine

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.queue import Entry, Queues, connect
from gatepost.service.ops import helpful, needed
from gatepost.service.vitals import Voice, vitals_loop
from gatepost.trust.identity import Identity, Role
from gatepost.wire.domains import DomainSettings
from gatepost.wire.vitals import CHANNEL
from main_server.health.overview import repository
from main_server.health.overview.collecting import Collector
from main_server.health.overview.heard import heard_loop
from main_server.store.database import Ledger, transact
from main_server.store.tables import certificates
from main_server.tenants.domains import service as domains
from tests.factories import ids
from tests.heard import until
from tests.integration.main_server.town import Town

DEAD_REDIS = "redis://127.0.0.1:1/0"
CHECKS = {"ledger": needed(None), "redis": helpful(None)}


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with connect(redis_url) as redis:
        yield redis


def collector(engine: Engine, redis: Redis) -> Collector:
    return Collector(Queues(redis, "message_queue"), Ledger(engine, 1), Clock(), lambda: CHECKS)


@asynccontextmanager
async def running(loop: Any) -> AsyncIterator[None]:
    """Until its stop, which is its caller's."""
    task = asyncio.create_task(loop)
    yield
    await asyncio.wait_for(task, 10)


async def test_what_processes_say_is_heard_and_they_are_gone_when_they_leave(
    engine: Engine, redis: Redis
) -> None:
    made, stop, left = collector(engine, redis), asyncio.Event(), asyncio.Event()
    domain, total = f"{uuid4().hex}.example", {"accepted": {"x": 0}}
    voice = Voice("proxy", lambda: {"queue": helpful("slow")}, lambda: total)
    process = voice.vitals().process

    def known() -> list[Any]:
        return [one for one, _ in made.snapshot().processes if one.process == process]

    async with running(heard_loop(stop, redis, made.heard)):
        async with running(vitals_loop(left, redis, voice)):
            await until(known)
            assert known()[0].checks == {"queue": (True, "slow")}
            await made.sample()
            total["accepted"][domain] = 40
            await until(lambda: known()[0].totals["accepted"].get(domain) == 40)
            await made.sample()
            flows = made.snapshot().samples[-1].flows
            assert flows is not None
            assert flows["accepted", domain].count == 40
            left.set()
        await until(lambda: not known())
        await redis.publish(CHANNEL, b"\xff noise")
        stop.set()


async def test_what_waits_is_counted_by_queue(town: Town, redis: Redis) -> None:
    made = collector(town.engine, redis)
    name = f"{town.domain}:messages"
    town.own_queue(name)
    entries = [Entry(ids.new().bytes, b"x", exposed=n == 0) for n in range(3)]
    await Queues(redis, "message_queue").named(name).enqueue(entries)
    await made.survey()
    await made.sample()
    queues = made.snapshot().samples[-1].queues
    assert queues is not None
    assert (queues[name].waiting, queues[name].exposed) == (3, 1)
    assert "message_queue" in queues


async def test_what_waits_where_nothing_more_comes_is_counted(town: Town, redis: Redis) -> None:
    """In a queue that a domain has left, or of one that is disabled."""
    made, now = collector(town.engine, redis), datetime.now(UTC)
    first, second = (f"{n}-{town.domain}:messages" for n in "ab")
    for queue in (first, second):
        settings = DomainSettings(queue_prefix=queue.removesuffix(":messages"))
        domains.change(town.engine, town.domain, settings, now, shared="message_queue")
        entry = Entry(ids.new().bytes, b"x")
        await Queues(redis, "message_queue").named(queue).enqueue([entry])
    domains.disable(town.engine, town.domain, "the contract is over", now)
    await made.survey()
    await made.sample()
    queues = made.snapshot().samples[-1].queues
    assert queues is not None
    assert (queues[first].waiting, queues[second].waiting) == (1, 1)
    survey = made.snapshot().survey
    assert survey is not None
    assert {first, second} <= {name for name, of in survey.left.items() if of == town.domain}


async def test_without_redis_nothing_is_known_and_nobody_waits_for_it(engine: Engine) -> None:
    async with connect(DEAD_REDIS) as redis:
        made = collector(engine, redis)
        await made.survey()
        async with asyncio.timeout(5):
            await made.sample()
        sample = made.snapshot().samples[-1]
        assert (sample.flows, sample.queues) == (None, None)
        stop = asyncio.Event()
        async with running(heard_loop(stop, redis, made.heard)):
            stop.set()


def expiring(engine: Engine, domain: str) -> list[tuple[str, str, str]]:
    now = from_ms(to_ms(datetime.now(UTC)))
    found = transact(engine, lambda c: repository.survey(c, now)).expiring
    return [(one.domain, one.role, one.name) for one in found if one.domain == domain]


def issued(
    engine: Engine,
    holder: Identity,
    days: float,
    status: str = "active",
    used_for: str | None = "client",
) -> None:
    now = from_ms(to_ms(datetime.now(UTC)))
    row = {
        "serial": uuid4().hex,
        "domain": holder.domain,
        "role": holder.role.value,
        "name": holder.name,
        "status": status,
        "fingerprint": uuid4().bytes * 2,
        "issuer": uuid4().hex,  # of none, it would be on everybody's lists
        "not_before": now,
        "not_after": now + timedelta(days=days),
        "created_at": now,
        "used_for": used_for,
    }
    transact(engine, lambda c: c.execute(certificates.insert().values(row)))


def test_certificates_that_expire_soon_are_those_that_have_no_newer_one(engine: Engine) -> None:
    domain = f"{uuid4().hex}.example"
    soon, renewed, late, revoked, over = (
        Identity(domain, Role.CLIENT, name) for name in ("soon", "renewed", "late", "rev", "over")
    )
    issued(engine, soon, 5)
    issued(engine, Identity(domain, Role.PROXY, "soon"), 80)
    issued(engine, renewed, 6)
    issued(engine, renewed, 90)
    issued(engine, late, 31)
    issued(engine, revoked, 3, "revoked")
    issued(engine, over, -1)
    assert expiring(engine, domain) == [(domain, "client", "soon")]


def test_one_for_another_use_takes_no_ones_place(engine: Engine) -> None:
    """A proxy calls by one and is called by another. Of those from before it isn't known."""
    domain = f"{uuid4().hex}.example"
    proxy, older, renewed = (Identity(domain, Role.PROXY, name) for name in ("p", "older", "r"))
    issued(engine, proxy, 5, used_for="server")
    issued(engine, proxy, 80)
    issued(engine, older, 5, used_for=None)
    issued(engine, older, 80)
    issued(engine, renewed, 5)
    issued(engine, renewed, 80, used_for=None)
    assert expiring(engine, domain) == [(domain, "proxy", "p")]


def test_our_own_domain_shares_no_queue_with_anybody(engine: Engine) -> None:
    now = from_ms(to_ms(datetime.now(UTC)))
    found = transact(engine, lambda c: repository.survey(c, now)).domains
    assert "gatepost" not in {one.name for one in found}
