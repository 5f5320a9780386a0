"""The commit under an Idempotency-Key, step by step: claim, register, enqueue; who decides when one
of them can't be asked; and what is kept of it for the next post."""

import asyncio
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest

from gatepost.errors import GatepostError, KeyReused, OutcomeUnknown, StillUnderWay, Unavailable
from gatepost.queue import QueueUnavailable
from gatepost.wire.contract import Registered, RegisterResult
from gatepost.wire.envelope import Envelope
from proxy.admission import Submission
from proxy.claims import Claim, Standing
from proxy.commit import SECOND_STORE_SECONDS, Commit, Durability
from proxy.keyed import Committed, Key, KeyedCommit, make_key
from tests.factories import BODY, CLIENT_ID, NUMBER, ids
from tests.heard import settled
from tests.unit.proxy.stores import REFUSED, REGISTERED, UNKNOWN, Stores, bare_envelope

SUBMISSION = Submission(NUMBER, BODY, None)
KEY = make_key(b"m" * 32, CLIENT_ID, "key-1", SUBMISSION)
FIRST = ids.new()


class Claims:
    """What Redis knows of the key; `kept` is what it was told last."""

    def __init__(self, standing: Claim | None, *, away: bool = False) -> None:
        self._standing, self._away = standing, away
        self.asked = 0
        self.kept: tuple[UUID, Durability] | str | None = None

    async def claim(self, _client: str, _mac: bytes, fresh_id: UUID, payload_mac: bytes) -> Claim:
        self.asked += 1
        if self._away:
            raise QueueUnavailable
        return self._standing or Claim(Standing.OURS, fresh_id, payload_mac, Durability.FULL)

    async def settle(
        self, _client: str, _mac: bytes, message_id: UUID, _payload: bytes, durability: Durability
    ) -> None:
        if self._away:
            raise QueueUnavailable
        self.kept = (message_id, durability)

    async def drop(self, _client: str, _mac: bytes, _message_id: UUID) -> None:
        if self._away:
            raise QueueUnavailable
        self.kept = "dropped"

    async def release(self, _client: str, _mac: bytes, _message_id: UUID) -> None:
        if self._away:
            raise QueueUnavailable
        self.kept = "released"


class Post:
    """A post under the key, and the stores that it goes through one after the other."""

    def __init__(self, standing: Claim | None = None, *, claims_away: bool = False) -> None:
        self.stores = Stores()
        self.claims = Claims(standing, away=claims_away)
        claims: Any = self.claims
        self._keyed = KeyedCommit(claims, self.stores.commit)
        self.fresh = ids.new()

    async def begin(self, key: Key = KEY) -> "asyncio.Task[Committed]":
        task = asyncio.create_task(self._keyed.commit(key, self.fresh, self._envelop))
        await settled()
        return task

    def _envelop(self, message_id: UUID) -> Envelope:
        return bare_envelope(message_id)

    async def through(self, ledger: Any, queue: Any) -> Committed:
        """The post's answer, where the stores answer so."""
        post = await self.begin()
        for store, answer in ((self.stores.ledger, ledger), (self.stores.queue, queue)):
            if store.asked:
                store.answer(answer)
                await settled()
        return await post


def result(kind: Registered, original: UUID | None = None) -> RegisterResult:
    return RegisterResult(result=kind, original=original)


def claimed(standing: Standing, payload_mac: bytes = KEY.payload_mac) -> Claim:
    return Claim(standing, FIRST, payload_mac, Durability.LEDGER)


async def test_a_first_post_is_registered_then_enqueued_then_kept() -> None:
    post = Post()
    task = await post.begin()
    assert len(post.stores.ledger.asked) == 1
    assert post.stores.queue.asked == []
    post.stores.ledger.answer(REGISTERED)
    await settled()
    assert post.stores.queue.marks == [False]
    assert post.claims.kept is None
    post.stores.queue.answer(None)
    assert await task == Committed(post.fresh, Durability.FULL)
    assert post.claims.kept == (post.fresh, Durability.FULL)


async def test_what_nobody_thought_of_leaves_the_claim_to_a_repeat_with_the_same_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(_commit: Commit, _envelope: Envelope) -> None:
        raise KeyError

    monkeypatch.setattr(Commit, "register", fail)
    post = Post()
    with pytest.raises(KeyError):
        await (await post.begin())
    assert post.claims.kept == "released"


async def test_a_repeat_of_what_is_done_asks_no_store() -> None:
    post = Post(claimed(Standing.DONE))
    assert await (await post.begin()) == Committed(FIRST, Durability.LEDGER, replayed=True)
    assert post.stores.ledger.asked == post.stores.queue.asked == []


async def test_a_repeat_of_what_is_under_way_is_told_to_wait() -> None:
    post = Post(claimed(Standing.UNDER_WAY))
    with pytest.raises(StillUnderWay):
        await (await post.begin())
    assert post.claims.kept is None


@pytest.mark.parametrize("standing", [Standing.DONE, Standing.UNDER_WAY])
async def test_another_message_under_the_key_is_refused_and_the_first_stays(
    standing: Standing,
) -> None:
    post = Post(claimed(standing, payload_mac=b"other" * 6 + b"xx"))
    with pytest.raises(KeyReused):
        await (await post.begin())
    assert post.claims.kept is None
    assert post.stores.ledger.asked == post.stores.queue.asked == []


async def test_after_one_who_died_the_repeat_goes_on_with_the_same_id() -> None:
    post = Post(claimed(Standing.OURS))
    assert await post.through(REGISTERED, None) == Committed(FIRST, Durability.FULL)
    assert post.stores.ledger.envelopes[0].message_id == FIRST
    assert post.stores.queue.envelopes[0].message_id == FIRST


async def test_the_ledgers_word_goes_before_the_one_of_redis() -> None:
    """Redis had forgotten, or never knew: the ledger says who was first."""
    post = Post()
    first = await post.through(result(Registered.DUPLICATE, FIRST), None)
    assert first == Committed(FIRST, Durability.LEDGER, replayed=True)
    assert post.stores.queue.asked == []
    assert post.claims.kept == (FIRST, Durability.LEDGER)


async def test_a_conflict_in_the_ledger_is_told_and_leaves_no_claim() -> None:
    post = Post()
    with pytest.raises(KeyReused):
        await post.through(result(Registered.CONFLICT, FIRST), None)
    assert post.claims.kept == "dropped"
    assert post.stores.queue.asked == []


@pytest.mark.parametrize("what", [Registered.REFUSED, Registered.EXPIRED])
async def test_what_the_ledger_can_not_take_is_promised_by_nobody(what: Registered) -> None:
    post = Post()
    with pytest.raises(Unavailable):
        await post.through(result(what), None)
    assert post.stores.queue.asked == []
    assert post.claims.kept == "dropped"


@pytest.mark.parametrize("ledger", [REFUSED, UNKNOWN], ids=str)
async def test_without_the_ledger_the_queue_decides_and_the_message_is_exposed(ledger: Any) -> None:
    post = Post()
    assert await post.through(ledger, None) == Committed(post.fresh, Durability.QUEUE)
    assert post.stores.queue.marks == [True]
    assert post.claims.kept == (post.fresh, Durability.QUEUE)


@pytest.mark.parametrize("queue", [REFUSED, UNKNOWN], ids=str)
async def test_without_the_queue_the_ledger_decides(queue: Exception) -> None:
    post = Post(claims_away=True)
    assert await post.through(REGISTERED, queue) == Committed(post.fresh, Durability.LEDGER)


async def test_a_queue_that_is_skipped_is_not_asked_for_a_claim_either() -> None:
    post = Post()
    post.stores.queue.skip()
    assert await post.through(REGISTERED, None) == Committed(post.fresh, Durability.LEDGER)
    assert post.claims.asked == 0


async def test_what_nobody_took_leaves_no_claim() -> None:
    post = Post()
    with pytest.raises(Unavailable):
        await post.through(REFUSED, REFUSED)
    assert post.claims.kept == "dropped"


@pytest.mark.parametrize(("ledger", "queue"), [(UNKNOWN, REFUSED), (REFUSED, UNKNOWN)])
async def test_what_may_have_been_taken_keeps_its_claim(ledger: Any, queue: Any) -> None:
    """So that the repeat goes on with the same id."""
    post = Post()
    with pytest.raises(OutcomeUnknown):
        await post.through(ledger, queue)
    assert post.claims.kept == "released"  # at once: nobody is under way any more


ENDS: list[tuple[Any, Any]] = [
    *((ledger, queue) for ledger in (REGISTERED, REFUSED, UNKNOWN) for queue in (None, REFUSED)),
    (REGISTERED, UNKNOWN),
    *((result(kind, FIRST), None) for kind in (Registered.DUPLICATE, Registered.CONFLICT)),
    *((result(kind), None) for kind in (Registered.EXPIRED, Registered.REFUSED)),
]


@pytest.mark.parametrize("ends", ENDS)
async def test_no_claim_stays_under_way_however_its_post_ends(ends: tuple[Any, Any]) -> None:
    post = Post()
    with suppress(GatepostError):
        await post.through(*ends)
    assert post.claims.kept is not None


async def test_a_post_that_is_broken_off_leaves_its_claim_to_a_repeat() -> None:
    post = Post()
    task = await post.begin()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert post.claims.kept == "released"


async def test_a_queue_that_hangs_does_not_hold_up_what_the_ledger_has() -> None:
    post, loop = Post(), asyncio.get_running_loop()
    task = await post.begin()
    post.stores.ledger.answer(REGISTERED)
    started = loop.time()
    assert await task == Committed(post.fresh, Durability.LEDGER)
    assert loop.time() - started < SECOND_STORE_SECONDS + 5
    assert post.stores.queue.lates == 1


async def test_a_ledger_that_hangs_can_not_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.commit.FIRST_STORE_SECONDS", 0.05)
    post = Post()
    task = await post.begin()
    await asyncio.sleep(0.1)
    assert post.stores.queue.marks == [True]
    post.stores.queue.answer(None)
    assert await task == Committed(post.fresh, Durability.QUEUE)
    assert post.stores.ledger.lates == 1


def test_keys_and_payloads_are_told_apart_by_every_part_of_them() -> None:
    submissions = [
        SUBMISSION,
        Submission(NUMBER, BODY + " ", None),
        Submission(NUMBER + "1", BODY[1:], None),
        Submission(NUMBER + BODY[:1], BODY[1:], None),
    ]
    payloads = {make_key(b"m" * 32, CLIENT_ID, "key-1", one).payload_mac for one in submissions}
    assert len(payloads) == len(submissions)
    keys = {
        make_key(mac_key, client, key, SUBMISSION).mac
        for mac_key in (b"m" * 32, b"n" * 32)
        for client in (CLIENT_ID, "other.example:client_001")
        for key in ("key-1", "key-2")
    }
    assert len(keys) == 8


def test_the_same_submission_at_another_time_is_the_same() -> None:
    later = Submission(NUMBER, BODY, 1_760_000_000_000)
    assert make_key(b"m" * 32, CLIENT_ID, "key-1", later) == KEY


def test_a_payloads_mac_says_nothing_without_the_idempotency_key() -> None:
    """The edge has the MAC key, and a one-time code is soon guessed: its key is not (I7)."""
    macs = {
        make_key(b"m" * 32, client, key, SUBMISSION).payload_mac
        for client in (CLIENT_ID, "other.example:client_001")
        for key in ("key-1", "key-2")
    }
    assert len(macs) == 4
