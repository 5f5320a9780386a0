"""What a sender says of when is kept, from the post to the delivery: not before, how soon, behind
which, until when; also where the queue has lost it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from gatepost.clock import iso, to_ms
from tests.acceptance.site import MESSAGES, Site, accepted, eventually, post, submission
from tests.factories import identity
from worker.delivering import BATCH
from worker.process import BATCHES_IN_FLIGHT


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    pair = site.issue(identity(name=f"s-{uuid4().hex[:10]}"))
    with site.calling(pair.files) as client:
        yield client


def sent(client: httpx.Client, **given: Any) -> str:
    return accepted(post(client, json=submission(**given)))


def soon(seconds: float) -> str:
    return iso(to_ms(datetime.now(UTC) + timedelta(seconds=seconds)))


def row(site: Site, message_id: str) -> dict[str, Any]:
    found = site.row(message_id)
    assert found is not None
    return found


def test_it_is_not_delivered_before_it_is_due(site: Site, client: httpx.Client) -> None:
    key = {"Idempotency-Key": str(uuid4())}
    later = submission(due_at=soon(3))
    message_id = accepted(post(client, json=later, headers=key))
    after = sent(client)
    site.wait_delivered(after)
    assert client.get(f"{MESSAGES}/{message_id}").json()["status"] == "queued"
    site.wait_delivered(message_id)
    found = row(site, message_id)
    assert iso(to_ms(found["due_at"])) == later["due_at"]
    assert found["delivered_at"] >= found["due_at"] > found["created_at"]
    # Long after it was due, a repeat is that message still; another time makes it another one.
    assert accepted(post(client, json=later, headers=key)) == message_id
    another = later | {"due_at": soon(60)}
    assert post(client, json=another, headers=key).status_code == 422


def test_what_is_urgent_overtakes(site: Site, client: httpx.Client) -> None:
    """More wait than workers hold at once, so that the last of them is taken after it."""
    slow, batches = list[str](), (BATCHES_IN_FLIGHT + 1) * processes(site)
    with site.without("worker"):
        for _ in range(batches):
            answer = client.post(f"{MESSAGES}/batch", json=[submission(priority=1)] * BATCH)
            slow += [item["message_id"] for item in answer.json()["items"]]
        urgent = sent(client, priority=10)
    site.wait_delivered(urgent, *slow)
    ends = [row(site, slow[0]), row(site, slow[-1])]
    assert [one["priority"] for one in ends] == [1, 1]
    assert row(site, urgent)["delivered_at"] < ends[1]["delivered_at"]


def processes(site: Site) -> int:
    return max(1, len(site.pids("worker")) - 1)


def test_order_is_kept_within_an_ordering_key(site: Site, client: httpx.Client) -> None:
    line = f"order-{uuid4()}"
    with site.without("worker"):
        first = [sent(client, ordering_key=line, priority=number) for number in (2, 9)]
        batch = [submission(ordering_key=line, idempotency_key=str(uuid4())) for _ in range(20)]
        answer = client.post(f"{MESSAGES}/batch", json=batch)
        first += [item["message_id"] for item in answer.json()["items"]]
    site.wait_delivered(*first)
    ends = [row(site, message_id)["delivered_at"] for message_id in first]
    assert ends == sorted(ends)
    assert len(set(ends)) == len(ends), "one after the other, never together"


def test_what_nobody_delivers_in_its_time_has_expired(site: Site, client: httpx.Client) -> None:
    with site.without("worker"):
        ids = [
            sent(client, ttl=1),
            sent(client, expires_at=soon(1.5)),
            sent(client, due_at=soon(1), ttl=2),
        ]
        eventually(lambda: datetime.now(UTC) > ended(site, ids), "their time is over")
    eventually(lambda: {row(site, one)["status"] for one in ids} == {"failed"}, "they have failed")
    assert {row(site, one)["reason"] for one in ids} == {"expired"}


def ended(site: Site, ids: list[str]) -> datetime:
    latest: datetime = max(row(site, one)["expires_at"] for one in ids)
    return latest.replace(tzinfo=UTC)


def test_what_cannot_be_is_refused_in_a_batch_too(client: httpx.Client) -> None:
    wrong: list[dict[str, Any]] = [
        {"priority": 11},
        {"ttl": 10**9},
        {"due_at": "2001-01-01T00:00:00Z"},
        {"due_at": soon(30), "ttl": 1},
    ]
    single = [post(client, json=submission(**one)) for one in wrong]
    items = client.post(f"{MESSAGES}/batch", json=[submission(**one) for one in wrong]).json()
    found = [item["status"] for item in items["items"]]
    assert found == [422, 422, 202, 422] == [answer.status_code for answer in single]
    pointers = [
        item["problem"]["errors"][0]["pointer"] for item in items["items"] if item["status"] == 422
    ]
    assert pointers == ["/priority", "/ttl", "/due_at"]
