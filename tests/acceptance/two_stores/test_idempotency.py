"""Idempotency-Keys on real processes: whatever is away at either post, and whatever is forgotten
between them, one message is delivered, and both ids tell of it (I2, 3.5)."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.acceptance.two_stores.rig import (
    MESSAGES,
    Rig,
    accepted,
    post,
    problem,
    submission,
)
from tests.acceptance.two_stores.shell import done
from tests.heard import wait_until

AWAY: dict[str, list[str]] = {
    "both": [],
    "ledger alone": ["proxy-redis"],
    "queue alone": ["proxy-main"],
}
KNOWN = {("both", "both"), ("both", "ledger alone"), ("ledger alone", "both")}
KNOWN |= {("ledger alone", "ledger alone")}
"""Where the ledger has the first when the second comes, and is asked."""
CLAIMED = {("both", "queue alone"), ("queue alone", "both"), ("queue alone", "queue alone")}
"""Where only the claim in Redis knows it."""


def state(client: httpx.Client, message_id: str) -> str:
    answer = client.get(f"{MESSAGES}/{message_id}")
    return str(answer.json()["status"]) if answer.status_code == 200 else str(answer.status_code)


def count(rig: Rig, status: str) -> int:
    found = rig.sql("SELECT COUNT(*) n FROM messages WHERE status = :status", status=status)
    return int(found[0]["n"])


def test_a_repeat_gets_the_first_answer_and_another_message_is_refused(whole: Rig) -> None:
    with whole.client() as client:
        first = post(client, key="once")
        again = post(client, key="once")
        assert accepted(again) == accepted(first)
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        other = post(client, key="once", message_body="something else")
        assert (other.status_code, problem(other)) == (422, "idempotency-key-reused")
        assert accepted(post(client, key="twice"))[0] != accepted(first)[0]
        whole.wait_delivered([accepted(first)[0]])
        assert accepted(post(client, key="once"))[0] == accepted(first)[0]


@pytest.mark.parametrize("wiped", [False, True], ids=["kept", "wiped"])
@pytest.mark.parametrize("second", AWAY)
@pytest.mark.parametrize("first", AWAY)
def test_one_is_delivered_whatever_was_away_at_either_post(
    whole: Rig, first: str, second: str, wiped: bool
) -> None:
    ids: list[str] = []
    with whole.client() as client:
        # Neither reconciler nor worker may carry the news from one store to the other.
        with whole.frozen("main-redis", "worker-redis"):
            for number, have in enumerate((first, second)):
                with ExitStack() as stack:
                    stack.enter_context(whole.refused(*AWAY[have]))
                    ids.append(accepted(post(client, key="once"))[0])
                if wiped and number == 0:
                    whole.redis.flushall()
            whole.age()

        same = (first, second) in KNOWN or ((first, second) in CLAIMED and not wiped)
        assert (ids[0] == ids[1]) == same
        lost = wiped and first == "queue alone"
        told = ids[1:] if lost else ids
        wait_until(lambda: {state(client, one) for one in told} == {"delivered"}, 20)
        assert count(whole, "delivered") == 1
        assert count(whole, "duplicate") == len(set(told)) - 1
        wait_until(lambda: whole.waiting() == 0, 10)
        # And whoever asks for the third time gets one of them, for good.
        assert accepted(post(client, key="once"))[0] in told


@pytest.mark.parametrize(
    ("first", "second", "wiped"),
    [("ledger alone", "queue alone", False), ("both", "queue alone", True)],
)
def test_another_message_under_the_key_fails_and_can_be_delivered_after_all(
    whole: Rig, first: str, second: str, wiped: bool
) -> None:
    """Neither post could be refused: the one store was away, and the other didn't know the key."""
    ids: list[str] = []
    with whole.client() as client:
        with whole.frozen("main-redis", "worker-redis"):
            for number, have in enumerate((first, second)):
                with whole.refused(*AWAY[have]):
                    body = f"message {number}"
                    ids.append(accepted(post(client, key="once", message_body=body))[0])
                if wiped and number == 0:
                    whole.redis.flushall()
            whole.age()
        whole.wait_states(ids, delivered=1, failed=1)
        told = client.get(f"{MESSAGES}/{ids[1]}").json()
        assert (told["status"], told["reason"]) == ("failed", "key_conflict")
        assert "reason" not in client.get(f"{MESSAGES}/{ids[0]}").json()
        wait_until(lambda: whole.waiting() == 0, 10)
        redrive = ("queue", "redrive", "--reason", "both were meant", "--yes", "--failed-for")
        assert done(whole, *redrive, "key_conflict")[0]["expected"] == 1
        wait_until(lambda: "failed" not in whole.states(ids), 10)
        whole.age()
        whole.wait_delivered(ids)
        assert whole.delivered_twice(ids) == []


def test_after_a_wipe_the_ledger_still_knows_another_message(whole: Rig) -> None:
    with whole.client() as client:
        first, _ = accepted(post(client, key="once"))
        whole.redis.flushall()
        for _ in range(2):
            other = post(client, key="once", message_body="something else")
            assert (other.status_code, problem(other)) == (422, "idempotency-key-reused")
        assert accepted(post(client, key="once"))[0] == first


@pytest.mark.parametrize("away", [[], ["proxy-redis"], ["proxy-main"]], ids=str)
def test_many_at_once_are_one_message(whole: Rig, away: list[str]) -> None:
    def send(_number: int) -> httpx.Response:
        with whole.client() as client:
            return post(client, key="once")

    with whole.refused(*away), ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(send, range(32)))
    taken = {accepted(one)[0] for one in answers if one.status_code == 202}
    others = {problem(one) for one in answers if one.status_code != 202}
    assert len(taken) == 1
    assert others <= {"still-under-way"}
    whole.age()
    whole.wait_delivered(list(taken))
    assert count(whole, "delivered") == 1


def test_in_a_batch_each_item_has_its_own_key(whole: Rig) -> None:
    def send(client: httpx.Client, *keys: str | None) -> list[dict[str, Any]]:
        items = [submission(**({"idempotency_key": key} if key else {})) for key in keys]
        answer = client.post(f"{MESSAGES}/batch", json=items)
        found: list[dict[str, Any]] = answer.json()["items"]
        return found

    with whole.client() as client:
        first = send(client, "a", "b", None)
        assert [item["status"] for item in first] == [202, 202, 202]
        again = send(client, "b", "c", "a")
        assert [item["status"] for item in again] == [202, 202, 202]
        assert again[0]["message_id"] == first[1]["message_id"]
        assert again[2]["message_id"] == first[0]["message_id"]
        twins = send(client, "d", "d")
        assert sorted(item["status"] for item in twins) in ([202, 202], [202, 409])
        single, _ = accepted(post(client, key="a"))
        assert single == first[0]["message_id"]
        ids = {item["message_id"] for item in (*first, *again, *twins) if "message_id" in item}
        whole.wait_delivered(list(ids))
        assert count(whole, "delivered") == 5
