"""The two stores as the proxy sees them: what an answer means for a message and for the breaker."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import httpx
import pytest

from gatepost.errors import OutcomeUnknown, Unavailable
from gatepost.queue import (
    Entry,
    QueueFull,
    QueueLoading,
    QueueReadOnly,
    QueueSlow,
    QueueUnavailable,
    QueueUnreachable,
)
from gatepost.wire.contract import (
    RegisterAnswer,
    Registered,
    RegisterResult,
    decode_register_request,
    encode_json,
)
from gatepost.wire.envelope import decode
from proxy.breaker import MISSES_TO_OPEN
from proxy.commit import Commit, Durability
from proxy.stores import LedgerStore, QueueStore, StoreRefused, StoreUnknown
from tests.heard import HeardLog, settled, until
from tests.unit.proxy.stores import FakeLedger, bare_envelope


class OneQueue:
    """A queue of a domain: takes what it is given, or fails."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.there: set[UUID] = set()
        self.groups: list[list[UUID]] = []
        self.exposed: list[UUID] = []
        self.ready = asyncio.Event()
        self.ready.set()

    async def enqueue(self, entries: Sequence[Entry]) -> None:
        await self.ready.wait()
        if self.failure:
            raise self.failure
        self.groups.append([UUID(bytes=entry.id) for entry in entries])
        self.there.update(self.groups[-1])
        self.exposed += [UUID(bytes=entry.id) for entry in entries if entry.exposed]

    async def expose(self, ids: Sequence[bytes]) -> list[bool]:
        if self.failure:
            raise self.failure
        known = [UUID(bytes=id_) in self.there for id_ in ids]
        self.exposed += [UUID(bytes=id_) for id_, there in zip(ids, known, strict=True) if there]
        return known

    async def remove(self, ids: Sequence[bytes]) -> list[bool]:
        known = [UUID(bytes=id_) in self.there for id_ in ids]
        self.there -= {UUID(bytes=id_) for id_ in ids}
        return known


class SomeQueues:
    def __init__(self) -> None:
        self.by_name: dict[str, OneQueue] = {}

    def named(self, name: str) -> OneQueue:
        return self.by_name.setdefault(name, OneQueue())


class Redis:
    """A queue store on such queues."""

    def __init__(self) -> None:
        self.queues, self.log = SomeQueues(), HeardLog()
        queues: Any = self.queues
        self.store = QueueStore(queues, self.log)

    def queue(self, name: str = "message_queue") -> OneQueue:
        return self.queues.named(name)


CLEAN = [QueueFull(), QueueLoading(), QueueReadOnly(), QueueUnreachable()]
DOUBTFUL = [QueueSlow(), QueueUnavailable(), RuntimeError("a defect")]


@pytest.mark.parametrize("failure", CLEAN, ids=lambda e: type(e).__name__)
async def test_what_redis_refuses_is_not_there(failure: Exception) -> None:
    redis = Redis()
    redis.queue().failure = failure
    with pytest.raises(StoreRefused):
        await redis.store.commit(bare_envelope(), exposed=False)


@pytest.mark.parametrize("failure", DOUBTFUL, ids=lambda e: type(e).__name__)
async def test_what_redis_leaves_open_may_be_there(failure: Exception) -> None:
    redis = Redis()
    redis.queue().failure = failure
    with pytest.raises(StoreUnknown):
        await redis.store.commit(bare_envelope(), exposed=False)


@pytest.mark.parametrize("failure", [*CLEAN, *DOUBTFUL], ids=lambda e: type(e).__name__)
async def test_each_group_that_fails_is_a_miss(failure: Exception) -> None:
    redis = Redis()
    redis.queue().failure = failure
    for _ in range(MISSES_TO_OPEN):
        posts = [redis.store.commit(bare_envelope(), exposed=False) for _ in range(10)]
        await asyncio.gather(*posts, return_exceptions=True)
    assert redis.store.breaker.open
    assert len(redis.log.of("breaker.opened")) == 1
    assert "defect" not in str(redis.log.heard)

    redis.queue().failure = None
    await redis.store.commit(bare_envelope(), exposed=False)
    assert not redis.store.breaker.open


async def test_what_becomes_of_one_domain_says_nothing_of_another() -> None:
    """All in one moment, as a busy proxy has it: one domain's queue is refused, the other's not."""
    redis = Redis()
    redis.queue("b.example:messages").failure = QueueFull()
    good = [bare_envelope(queue="a.example:messages") for _ in range(3)]
    posts = [redis.store.commit(one, exposed=False) for one in good]
    bad = redis.store.commit(bare_envelope(queue="b.example:messages"), exposed=False)
    await asyncio.gather(*posts)
    with pytest.raises(StoreRefused):
        await bad
    assert redis.queue("a.example:messages").groups == [[one.message_id for one in good]]


async def test_who_comes_together_is_committed_together_and_marked_each_for_itself() -> None:
    redis = Redis()
    envelopes = [bare_envelope() for _ in range(4)]
    posts = [redis.store.commit(one, exposed=n % 2 == 1) for n, one in enumerate(envelopes)]
    await asyncio.gather(*posts)
    ids = [one.message_id for one in envelopes]
    assert redis.queue().groups == [ids]
    assert redis.queue().exposed == [ids[1], ids[3]]
    assert await redis.store.expose(envelopes[0])
    assert redis.queue().exposed[-1] == ids[0]


async def test_each_is_told_whether_it_was_there_to_be_exposed() -> None:
    redis, here, gone = Redis(), bare_envelope(), bare_envelope()
    await redis.store.commit(here, exposed=False)
    marks = await asyncio.gather(*(redis.store.expose(one) for one in (gone, here, gone)))
    assert marks == [False, True, False]
    assert redis.queue().exposed == [here.message_id]


async def test_what_is_withdrawn_is_taken_out_of_its_queue_and_nothing_else() -> None:
    redis, stays, goes = Redis(), bare_envelope(), bare_envelope()
    other = bare_envelope(queue="other:messages")
    for one in (stays, goes, other):
        await redis.store.commit(one, exposed=False)
    redis.store.withdraw(goes)
    await until(lambda: goes.message_id not in redis.queue().there)
    assert redis.queue().there == {stays.message_id}
    assert redis.queue("other:messages").there == {other.message_id}


class OnRealLanes:
    """A commit whose queue store is a real one, over a queue that answers when it is told to."""

    def __init__(self) -> None:
        self.redis, self.ledger = Redis(), FakeLedger()
        ledger: Any = self.ledger
        self._commit = Commit(self.redis.store, ledger)
        self.queue = self.redis.queue()

    async def post(self) -> "asyncio.Task[Durability]":
        task = asyncio.create_task(self._commit.side_by_side(bare_envelope()))
        await settled()
        return task


async def test_what_the_ledger_declines_while_it_is_on_its_way_is_out_of_the_queue_in_the_end() -> (
    None
):
    """Taking it out must not overtake putting it in: it would stay, of a message refused."""
    stores = OnRealLanes()
    stores.queue.ready.clear()
    post = await stores.post()
    stores.ledger.answer(RegisterResult(result=Registered.REFUSED, reason="unstorable"))
    with pytest.raises(Unavailable):
        await post
    await settled()
    stores.queue.ready.set()
    await until(lambda: stores.queue.groups)
    await until(lambda: not stores.queue.there)


async def test_what_was_wiped_before_it_was_exposed_is_not_promised() -> None:
    """It is in no store: the ledger hasn't taken it, and Redis has lost it (I1)."""
    stores = OnRealLanes()
    post = await stores.post()
    await until(lambda: stores.queue.there)
    stores.queue.there.clear()
    stores.ledger.answer(StoreRefused("no"))
    with pytest.raises(OutcomeUnknown):
        await post
    assert stores.queue.exposed == []


async def test_a_store_that_hangs_is_a_miss_for_each_who_waited() -> None:
    redis, other = Redis(), "other:messages"
    redis.queue(other)
    redis.queue().ready.clear()
    await redis.store.commit(bare_envelope(queue=other), exposed=False)
    post = redis.store.commit(bare_envelope(), exposed=False)
    await settled()
    for _ in range(MISSES_TO_OPEN):
        redis.store.late()
    assert not redis.store.breaker.open  # a moment is not long
    await asyncio.sleep(1.05)
    for _ in range(MISSES_TO_OPEN):
        redis.store.late()
    assert redis.store.breaker.open
    redis.queue().ready.set()
    await post
    assert not redis.store.breaker.open


Answer = Callable[[httpx.Request], httpx.Response]


class MainServer:
    """A ledger store before a main server that answers as it is told."""

    def __init__(self, answer: Answer | None = None, timeout: float = 5.0) -> None:
        self.answer = answer or register
        self.groups: list[list[UUID]] = []
        self.log = HeardLog()
        client = httpx.AsyncClient(
            transport=httpx.MockTransport(self._serve), base_url="https://main"
        )
        self.store = LedgerStore(client, timeout, self.log)

    async def _serve(self, request: httpx.Request) -> httpx.Response:
        envelopes = decode_register_request(request.content).envelopes
        self.groups.append([decode(bytes(one)).message_id for one in envelopes])
        return self.answer(request)


def register(request: httpx.Request) -> httpx.Response:
    count = len(decode_register_request(request.content).envelopes)
    results = [RegisterResult(result=Registered.REGISTERED)] * count
    return httpx.Response(200, content=encode_json(RegisterAnswer(results)))


def status(code: int, content: bytes = b"{}") -> Answer:
    return lambda _request: httpx.Response(code, content=content)


def raises(error: type[httpx.TransportError]) -> Answer:
    def answer(_request: httpx.Request) -> httpx.Response:
        raise error("…")

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        raises(httpx.ConnectError),
        raises(httpx.ConnectTimeout),
        raises(httpx.PoolTimeout),
        status(403),
        status(413),
        status(422),
    ],
)
async def test_what_did_not_reach_the_ledger_is_not_there(answer: Answer) -> None:
    with pytest.raises(StoreRefused):
        await MainServer(answer).store.commit(bare_envelope())


@pytest.mark.parametrize(
    "answer",
    [
        raises(httpx.ReadError),
        raises(httpx.ReadTimeout),
        raises(httpx.WriteError),
        raises(httpx.RemoteProtocolError),
        status(500),
        status(503),
        status(200, b"{"),
        status(200, b'{"results": [{"result": "perhaps"}]}'),
        status(200, b'{"results": []}'),
    ],
)
async def test_what_may_have_reached_it_may_be_there(answer: Answer) -> None:
    with pytest.raises(StoreUnknown):
        await MainServer(answer).store.commit(bare_envelope())


async def test_a_main_server_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    async def sleep(_request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    client = httpx.AsyncClient(transport=httpx.MockTransport(sleep), base_url="https://main")
    with pytest.raises(StoreUnknown):
        await LedgerStore(client, 0.05, HeardLog()).commit(bare_envelope())


async def test_three_misses_open_the_ledgers_breaker_and_a_hit_closes_it() -> None:
    main = MainServer(status(503))
    for _ in range(MISSES_TO_OPEN):
        with pytest.raises(StoreUnknown):
            await main.store.commit(bare_envelope())
    assert main.store.breaker.problem == "status 503"
    main.answer = register
    await main.store.commit(bare_envelope())
    assert main.store.breaker.problem is None


async def test_each_of_a_group_gets_its_own_result() -> None:
    kinds = [Registered.REGISTERED, Registered.EXPIRED, Registered.CONFLICT]
    answer = encode_json(RegisterAnswer([RegisterResult(result=kind) for kind in kinds]))
    main = MainServer(status(200, answer))
    envelopes = [bare_envelope() for _ in kinds]
    results = await asyncio.gather(*(main.store.commit(one) for one in envelopes))
    assert [one.result for one in results] == kinds
    assert main.groups == [[one.message_id for one in envelopes]]


async def test_the_ledger_is_told_when_nobody_asks_the_queue() -> None:
    skipped, heard = True, []

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(decode_register_request(request.content).queue_skipped)
        return register(request)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="https://main")
    store = LedgerStore(client, 5, HeardLog(), queue_skipped=lambda: skipped)
    await store.commit(bare_envelope())
    skipped = False
    await store.commit(bare_envelope())
    assert heard == [True, False]
    of_before = decode_register_request(b'{"envelopes": []}')
    assert not of_before.queue_skipped
