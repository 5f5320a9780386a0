"""Calling scripts: loaded where they aren't known, on declared keys, as the services' users."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from gatepost.queue import Delivery, Entry, Queue, Reason, connect
from gatepost.queue.keys import PartitionKeys
from gatepost.queue.scripts import Client
from infra.dev.engines import RedisServer
from tests.integration.queue.conftest import NAME
from tests.integration.queue.factories import entries, entry
from tests.integration.queue.testclock import TestClock


async def forget_scripts(client: Client) -> None:
    if isinstance(client, Redis):
        await client.script_flush()
    else:
        await client.execute_command("SCRIPT FLUSH", target_nodes="primaries")


async def test_a_server_that_lost_its_scripts_is_given_them_again(
    queue: Queue, client: Client
) -> None:
    message = entry()
    await queue.enqueue([message])

    await forget_scripts(client)

    assert [d.id for d in await queue.reserve(1, 30)] == [message.id]


async def run_everything(queue: Queue) -> None:
    """Call each operation, so that each branch that names a key is taken."""
    far = 4_000_000_000_000
    plain = [*entries(6, expires_at=far, exposed=True), entry(expires_at=far - 60_000)]
    ordered = entries(4, ordering_key=b"k", expires_at=1)
    delayed = entries(2, due_at=far)
    await queue.enqueue([*plain, *ordered, *delayed, *entries(2, priority=9)])
    await queue.enqueue([Entry(plain[0].id, b"", generation=1), Entry(delayed[0].id, b"")])
    await queue.wait(0.1)
    held = await queue.reserve(5, 30)
    await settle_in_all_ways(queue, held)
    await queue.release_due()
    await queue.reclaim()
    await queue.dead_letter([(d, Reason.EXPIRED) for d in await queue.expire(10, 0.001)])
    await queue.remove([plain[-1].id, delayed[1].id])
    await queue.reserve(10, 0.001)
    await asyncio.sleep(0.01)
    await queue.reclaim()
    ids = [e.id for e in (*plain, *ordered, *delayed)]
    await queue.peek(ids)
    await queue.payloads(ids)
    await queue.missing(ids)
    await queue.expose(ids)
    await queue.exposed(5)
    await queue.registered(ids)
    await queue.dead_letters(5)
    await queue.epochs()
    await queue.stats()
    await queue.purge()


async def settle_in_all_ways(queue: Queue, held: list[Delivery]) -> None:
    await queue.extend(held, 30)
    await queue.acknowledge(held[:1])
    await queue.retry_later([(held[1], 0), (held[2], 60)])
    await queue.give_back(held[3:4])
    await queue.dead_letter([(held[4], Reason.REFUSED)])


async def test_scripts_touch_declared_keys_only(redis_url: str) -> None:
    # Given somebody who writes down every command, those of scripts as well
    client = connect(redis_url)
    queue = Queue(client, NAME)
    seen: list[str] = []
    async with connect(redis_url).monitor() as monitor:
        watching = asyncio.create_task(_write_down(monitor.listen(), seen))
        # When everything is done that can be done
        await run_everything(queue)
        await client.echo("the end")
        await watching
    await client.aclose()

    # I expect no key but those that every script is given, and those of plain commands
    keys = PartitionKeys(NAME, 0)
    declared = {key.decode() for key in (*keys.declared, keys.epoch)}
    touched = {word for line in seen for word in line.split() if word.startswith(f"{{{NAME}/")}
    assert touched == declared


async def _write_down(lines: object, seen: list[str]) -> None:
    async for line in lines:  # type: ignore[attr-defined]
        if line["command"] == "ECHO the end":
            return
        if not line["command"].startswith("EVAL"):
            seen.append(line["command"])


SERVICES = ("gatepost_proxy", "gatepost_worker", "gatepost_main")


@pytest.mark.parametrize("user", SERVICES)
async def test_the_services_may_do_what_they_must(
    user: str, redis_server: RedisServer, redis_url: str
) -> None:
    client = connect(redis_server.url(user))
    await run_everything(Queue(client, NAME))
    await client.aclose()


async def test_an_operation_is_one_round_trip(
    queue: Queue, client: Client, clock: TestClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given scripts that are loaded
    await run_everything(queue)
    count = 0
    execute: Callable[..., Awaitable[object]] = client.execute_command

    async def counted(*arguments: object, **options: object) -> object:
        nonlocal count
        count += 1
        return await execute(*arguments, **options)

    monkeypatch.setattr(client, "execute_command", counted)

    # When a batch is enqueued, reserved and acknowledged, I expect three
    await queue.enqueue(entries(100))
    await queue.acknowledge(await queue.reserve(100, 30))
    assert count == 3
