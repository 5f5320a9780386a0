"""The way of a message through real processes: accepted, delivered, seen by its sender alone."""

import os
import re
import secrets
import signal
from uuid import UUID, uuid4

import httpx
import pytest

from gatepost.trust.identity import Identity, Role
from tests.acceptance.site import (
    MESSAGES,
    Site,
    Traffic,
    accepted,
    eventually,
    post,
    state_of,
    submission,
)
from tests.factories import ids
from worker.delivering import BATCH

WORKER_HOLDS = 2 * BATCH
"""What one process of the workers may have in its hands."""

TIME = re.compile(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")


def test_a_message_is_accepted_and_delivered(site: Site) -> None:
    with site.calling() as client:
        answer = post(client)
        message_id = accepted(answer)
        told = answer.json()
        assert set(told) == {"message_id", "status", "queued_at", "durability"}
        assert (told["status"], told["durability"]) == ("queued", "full")
        assert TIME.match(told["queued_at"])
        assert UUID(message_id).version == 7
        assert answer.headers["location"] == f"{MESSAGES}/{message_id}"
        eventually(lambda: state_of(client, message_id) == "delivered", "delivered", 5)
        shown = client.get(answer.headers["location"]).json()
    assert set(shown) == {
        "message_id",
        "status",
        "created_at",
        "queued_at",
        "delivered_at",
        "attempt_count",
    }
    assert shown["message_id"] == message_id
    assert shown["attempt_count"] == 1
    assert shown["queued_at"] == told["queued_at"] <= shown["delivered_at"]
    assert TIME.match(shown["delivered_at"])


def test_the_sample_of_the_design_can_be_pasted(site: Site) -> None:
    sample = {
        "sender_number": "+1234567890",
        "message_body": "This is the message content",
        "metadata": {"client_id": "client_001", "timestamp": "2025-10-20T12:34:56.789Z"},
    }
    with site.calling() as client:
        message_id = accepted(post(client, json=sample))
    site.wait_delivered(message_id)
    row = site.row(message_id)
    assert row is not None
    assert row["client_id"] == "example.com:client_001"
    assert f"{row['client_timestamp']:%Y-%m-%dT%H:%M:%S.%f}" == "2025-10-20T12:34:56.789000"


def test_a_thousand_characters_of_any_kind_arrive(site: Site) -> None:
    with site.calling() as client:
        sent = [
            accepted(post(client, json=submission(message_body=text)))
            for text in ("\U0001f600" * 1000, "\x01" * 1000, "\u202e" * 1000, '"\\' * 500)
        ]
    site.wait_delivered(*sent)


def test_whoami_says_what_the_certificate_says(site: Site) -> None:
    with site.calling() as client:
        told = client.get("/api/v1/whoami").json()
    assert (told["client_id"], told["domain"]) == ("example.com:client_001", "example.com")
    assert (told["name"], told["role"]) == ("client_001", "client")
    assert told["formats"] == {"max_body_characters": 1000}
    assert set(told["limits"]) == {"rate_per_second", "burst"}
    certificate = told["certificate"]
    assert len(certificate["fingerprint"]) == 64
    assert TIME.match(certificate["not_before"])
    assert certificate["not_before"] < certificate["not_after"]


def comparable(answer: httpx.Response) -> tuple[int, dict[str, object], dict[str, str]]:
    """An answer without what differs from request to request."""
    body = answer.json()
    assert body.pop("request_id") == answer.headers["x-request-id"]
    headers = dict(answer.headers)
    for name in ("date", "x-request-id"):
        del headers[name]
    return answer.status_code, body, headers


def test_anothers_message_is_answered_as_one_that_does_not_exist(site: Site) -> None:
    neighbour = site.issue(Identity("example.com", Role.CLIENT, f"n-{uuid4().hex[:8]}"))
    stranger = site.issue(Identity("example.org", Role.CLIENT, f"s-{uuid4().hex[:8]}"))
    with site.calling() as client:
        message_id = accepted(post(client))
        eventually(lambda: state_of(client, message_id) == "delivered", "delivered")
    for who in (neighbour, stranger):
        with site.calling(who.files) as client:
            unknown = comparable(client.get(f"{MESSAGES}/{ids.new()}"))
            assert unknown[0] == 404
            for name in (message_id, str(uuid4()), message_id.upper(), message_id.replace("-", "")):
                assert comparable(client.get(f"{MESSAGES}/{name}")) == unknown


def test_while_it_waits_anothers_message_does_not_exist_either(site: Site) -> None:
    neighbour = site.issue(Identity("example.com", Role.CLIENT, f"n-{uuid4().hex[:8]}"))
    before = site.pids("worker")[0]
    with site.calling() as client, site.calling(neighbour.files) as other:
        with site.without("worker"):
            message_id = accepted(post(client))
            assert state_of(client, message_id) == "queued"
            unknown = comparable(other.get(f"{MESSAGES}/{ids.new()}"))
            assert comparable(other.get(f"{MESSAGES}/{message_id}")) == unknown
        site.back("worker", before)
        eventually(lambda: state_of(client, message_id) == "delivered", "delivered")


@pytest.mark.parametrize(
    "name", ["", "x", "..", "%2e%2e", "0" * 32, "%00", "%0d%0aX-Evil:%20y", "\u00e4", "x" * 5000]
)
def test_what_is_no_id_is_not_found(site: Site, name: str) -> None:
    with site.calling() as client:
        answer = client.get(f"{MESSAGES}/{name}")
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:gatepost:problem:not-found"
    assert "x-evil" not in answer.headers


def test_a_request_is_found_again_in_the_logs_of_those_it_went_through(site: Site) -> None:
    request_id = f"test-{secrets.token_hex(8)}"
    trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    headers = {"x-request-id": request_id, "traceparent": trace}
    with site.calling() as client:
        answer = post(client, headers=headers)
    message_id = accepted(answer)
    assert answer.headers["x-request-id"] == request_id
    found = {"message_id": message_id, "request_id": request_id, "traceparent": trace}
    (event,) = eventually(lambda: site.events("proxy", "message.accepted", **found), "the event")
    assert event["client_id"] == "example.com:client_001"
    # The stack records no traces: nobody behind the proxy does, whatever its client records.
    found["traceparent"] = f"{trace[:-2]}00"
    assert eventually(lambda: site.events("worker", "delivery.attempted", **found), "the event")


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "\u00e4", "a;b", "<script>", "../../etc"])
def test_a_request_id_that_is_none_of_ours_is_replaced(site: Site, given: str) -> None:
    with site.calling() as client:
        answer = post(
            client, headers={"x-request-id": given.encode(), "traceparent": given.encode()}
        )
    found = answer.headers["x-request-id"]
    assert found != given
    assert UUID(found)
    (event,) = eventually(
        lambda: site.events("proxy", "message.accepted", request_id=found), "the event"
    )
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-00", event["traceparent"])


def test_nothing_of_a_message_is_in_any_log(site: Site) -> None:
    body, number = f"canary-{secrets.token_hex(8)}", f"+49{secrets.randbelow(10**12):012d}"
    key = f"key-{secrets.token_hex(8)}"
    with site.calling() as client:
        good = submission(message_body=body, sender_number=number)
        site.wait_delivered(accepted(post(client, json=good)))
        accepted(post(client, json=good, headers={"idempotency-key": key}))
        for bad in (
            submission(message_body=body + "\0", sender_number=number + "x"),
            submission(**{body: number}),
            submission(metadata={"client_id": body, "timestamp": number}),
        ):
            answer = post(client, json=bad)
            assert answer.status_code in (403, 422)
            assert body not in answer.text
            assert number not in answer.text
    for service in ("proxy", "worker", "main_server", "redis", "mariadb", "stack"):
        log = site.stack.place.log(service)
        folder = site.stack.place.folder / service
        for file in (log, *folder.glob("*.log")):
            written = file.read_text(errors="replace") if file.exists() else ""
            for secret in (body, number, key):
                assert secret not in written, (file, secret)


def waiting(site: Site, message_ids: list[str]) -> list[str]:
    """Those that are not delivered yet; each of them is known, as its sender can see: if only by
    the queue, while a main server comes back."""
    missing = site.undelivered(message_ids)
    with site.calling() as client:
        assert {state_of(client, one) for one in missing} <= {"queued", "delivered", "unknown"}
    return missing


@pytest.mark.parametrize("service", ["worker", "proxy", "main_server"])
def test_a_child_killed_in_mid_traffic_loses_nothing_that_was_promised(
    site: Site, service: str
) -> None:
    with Traffic(site) as traffic:
        for _ in range(3):
            traffic.flows()
            eventually(lambda: len(site.pids(service)) > 1, "children")
            os.kill(site.pids(service)[-1], signal.SIGKILL)
        traffic.flows()
    assert traffic.strange == []
    assert len(set(traffic.promised)) == len(traffic.promised)
    # What a killed worker held waits for its lease to run out; all else is there at once.
    eventually(lambda: len(waiting(site, traffic.promised)) <= 3 * WORKER_HOLDS, "delivered")
    assert len(site.events(service, "process.died", how="signal 9")) >= 3


def test_without_the_main_server_messages_wait_and_are_drained_within_two_seconds_of_its_return(
    site: Site,
) -> None:
    before = site.pids("main_server")[0]
    with site.calling() as client:
        with site.without("main_server"):
            answers = [post(client) for _ in range(20)]
            sent = [accepted(answer) for answer in answers]
            assert {answer.json()["durability"] for answer in answers} == {"queue"}
            assert state_of(client, sent[0]) == "unknown"
        site.back("main_server", before)
        site.wait_ready()
        site.wait_delivered(*sent, seconds=2.0)
        assert {state_of(client, one) for one in sent} == {"delivered"}


def test_without_redis_messages_are_kept_by_the_ledger_and_delivered_after_its_return(
    site: Site,
) -> None:
    before = site.pids("redis")[0]
    with site.calling() as client:
        with site.without("redis"):
            answers = [post(client) for _ in range(10)]
            sent = [accepted(answer) for answer in answers]
            assert {answer.json()["durability"] for answer in answers} == {"ledger"}
        site.back("redis", before)
        site.wait_ready()
        site.wait_delivered(*sent, seconds=15)


def test_without_both_nothing_is_kept_and_the_sender_is_told_when_to_come_back(site: Site) -> None:
    redis, main_server = site.pids("redis")[0], site.pids("main_server")[0]
    with site.calling() as client:
        with site.without("redis", "main_server"):
            for _ in range(10):
                answer = post(client)
                assert answer.status_code == 503
                assert int(answer.headers["retry-after"]) >= 1
                assert answer.headers["content-type"] == "application/problem+json"
                slug = answer.json()["type"].removeprefix("urn:gatepost:problem:")
                assert slug in ("unavailable", "outcome-unknown")
            assert slug == "unavailable"
            asked = client.get(f"{MESSAGES}/{ids.new()}")
            assert (asked.status_code, "retry-after" in asked.headers) == (503, True)
        site.back("redis", redis)
        site.back("main_server", main_server)
        site.wait_ready()
        eventually(lambda: post(client).status_code == 202, "it takes messages again", 5)


def test_not_found_needs_both_to_have_answered(site: Site) -> None:
    before = site.pids("main_server")[0]
    with site.calling() as client:
        with site.without("main_server"):
            assert client.get(f"{MESSAGES}/{ids.new()}").status_code == 503
        site.back("main_server", before)
        site.wait_ready()
        assert client.get(f"{MESSAGES}/{ids.new()}").status_code == 404


def test_what_workers_ask_on_and_on_fills_no_log(site: Site) -> None:
    """It is counted; who debugs sees it."""
    (metrics,) = site.status["metrics"]["main_server"]
    counted = re.compile(r'_requests_total\{route="(/internal/queues)",status="200"\} ([\d.]+)')

    def polls() -> float:
        said = httpx.get(metrics, trust_env=False).text
        return sum(float(count) for _, count in counted.findall(said))

    before = polls()
    eventually(lambda: polls() >= before + 3, "workers ask")
    polled = {"route": "/internal/queues", "status": 200, "level": "info"}
    assert site.events("main_server", "request.served", **polled) == []
