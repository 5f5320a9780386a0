"""Traces, by real processes and a collector that reads what they send: a post's way is one trace,
from the client to the delivery; and with the collector away nobody waits for it."""

import secrets
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gatepost.client import Client
from gatepost.service.tracing import Kind
from gatepost.trace import recorded, span_id, trace_id
from infra.dev.engines import Engines
from infra.dev.ports import HOST, free_port
from tests.acceptance.two_stores.rig import MESSAGES, QUEUE, Rig, accepted, submission
from tests.collector import Collector, Seen
from tests.heard import wait_until

SERVICES = ("main_server", "proxy", "worker")
MS = 1_000_000

WAY = {
    "admit": f"POST {MESSAGES}",
    f"send {QUEUE}": f"POST {MESSAGES}",
    "commit to the queue": f"send {QUEUE}",
    "commit to the ledger": f"send {QUEUE}",
    "register": "commit to the ledger",
    f"wait in {QUEUE}": f"send {QUEUE}",
    f"process {QUEUE}": f"send {QUEUE}",
    "deliver": f"process {QUEUE}",
}
"""Each span of a message, and the one that it is below."""
WHO = {
    "gatepost-proxy": {f"POST {MESSAGES}", f"send {QUEUE}", *list(WAY)[2:4], "admit"},
    "gatepost-worker": {f"wait in {QUEUE}", f"process {QUEUE}"},
    "gatepost-main-server": {"register", "deliver"},
}


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def traced(engines: Engines, tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Rig]:
    """All three, with traces on; the collector isn't there yet."""
    with Rig(engines, tmp_path_factory.mktemp("traced") / "var") as rig:
        for name in SERVICES:
            rig.configure(name, "tracing", endpoint=f"http://{HOST}:{port}")
        rig.configure("proxy", "tracing", ratio=0.0)
        rig.start(*SERVICES)
        with rig.client() as client:
            rig.wait_delivered([rig.settle(client)])
        yield rig


@pytest.fixture
def collector(port: int) -> Iterator[Collector]:
    with Collector(port) as collector:
        yield collector


def marked() -> str:
    """A client's, which it says it records."""
    return recorded(secrets.token_hex(16), secrets.token_hex(8))


def trace(collector: Collector, traceparent: str, spans: int) -> list[Seen]:
    """But for the deliveries that came before the registration, and were to bring the envelope."""

    def found() -> list[Seen]:
        of_trace = collector.of(trace_id(traceparent))
        return [s for s in of_trace if s.attributes.get("gatepost.result") != "send_envelope"]

    wait_until(lambda: len(found()) >= spans, 20)
    return found()


def by_name(spans: list[Seen]) -> dict[str, Seen]:
    found = {one.name: one for one in spans}
    assert len(found) == len(spans), "each once"
    return found


def test_a_post_is_one_trace_from_the_client_to_the_delivery(
    traced: Rig, collector: Collector
) -> None:
    parent = marked()
    with traced.client() as client:
        message_id, _ = accepted(post_in(client, parent))
    spans = by_name(trace(collector, parent, len(WAY) + 1))
    root = spans[f"POST {MESSAGES}"]
    assert root.parent_id == span_id(parent), "below the client's own span"
    assert {name: spans[above].span_id for name, above in WAY.items()} == {
        name: spans[name].parent_id for name in WAY
    }
    for service, names in WHO.items():
        assert {one.name for one in spans.values() if one.service == service} == names
    kinds = {name: Kind(spans[name].kind).name for name in ("register", "deliver", root.name)}
    assert set(kinds.values()) == {"SERVER"}
    assert spans[f"send {QUEUE}"].kind == Kind.PRODUCER
    assert spans[f"process {QUEUE}"].kind == Kind.CONSUMER
    ids = {one.attributes["messaging.message.id"] for n, one in spans.items() if QUEUE in n}
    assert ids == {message_id}
    assert root.attributes["http.response.status_code"] == 202
    assert spans["register"].attributes["gatepost.result"] == "registered"
    assert spans["deliver"].attributes["gatepost.result"] == "delivered"
    assert {one.error for one in spans.values()} == {""}


def test_its_times_are_in_order(traced: Rig, collector: Collector) -> None:
    parent = marked()
    with traced.client() as client:
        before = time.time_ns()
        accepted(post_in(client, parent))
    spans = by_name(trace(collector, parent, len(WAY) + 1))
    assert before <= min(one.start for one in spans.values())
    assert max(one.end for one in spans.values()) <= time.time_ns()
    root, sending = spans[f"POST {MESSAGES}"], spans[f"send {QUEUE}"]
    commits = [spans["commit to the queue"], spans["commit to the ledger"]]
    assert root.start <= sending.start <= min(one.start for one in commits)
    assert commits[1].start <= spans["register"].start <= spans["register"].end <= commits[1].end
    assert max(one.end for one in commits) <= sending.end <= root.end, "full: both are waited for"
    wait, attempt = spans[f"wait in {QUEUE}"], spans[f"process {QUEUE}"]
    assert commits[0].start - MS <= wait.start <= wait.end == attempt.start, "Redis says ms"
    assert attempt.start <= spans["deliver"].start <= spans["deliver"].end <= attempt.end


def test_a_batch_is_below_one_request_with_each_message_by_itself(
    traced: Rig, collector: Collector
) -> None:
    parent = marked()
    items = [submission() for _ in range(5)]
    with traced.client() as client:
        answer = client.post(f"{MESSAGES}/batch", json=items, headers={"traceparent": parent})
    ids = {one["message_id"] for one in answer.json()["items"]}
    spans = trace(collector, parent, 2 + 5 * (len(WAY) - 1))
    (root,) = (one for one in spans if one.name == f"POST {MESSAGES}/batch")
    sent = {one.span_id: one for one in spans if one.name == f"send {QUEUE}"}
    assert {one.parent_id for one in sent.values()} == {root.span_id}
    assert {one.attributes["messaging.message.id"] for one in sent.values()} == ids
    processed = [one for one in spans if one.name == f"process {QUEUE}"]
    assert {
        sent[one.parent_id].attributes["messaging.message.id"]: one.attributes[
            "messaging.message.id"
        ]
        for one in processed
    } == {one: one for one in ids}
    assert {one.parent_id for one in spans if one.name == "deliver"} == {
        one.span_id for one in processed
    }


def test_under_a_key_each_post_has_its_place_and_one_is_processed(
    traced: Rig, collector: Collector
) -> None:
    first, again, key = marked(), marked(), secrets.token_hex(8)
    with traced.client() as client:
        answers = [accepted(post_in(client, one, key=key)) for one in (first, again)]
    assert answers[0] == answers[1]
    by_name(trace(collector, first, len(WAY) + 1))
    repeat = by_name(trace(collector, again, 3))
    assert set(repeat) == {f"POST {MESSAGES}", "admit", f"send {QUEUE}"}
    assert repeat[f"send {QUEUE}"].attributes["gatepost.replayed"] == "true"
    assert repeat[f"send {QUEUE}"].attributes["messaging.message.id"] == answers[0][0]


def test_the_library_names_a_trace_that_the_gateway_records_by_its_ratio(
    traced: Rig, collector: Collector
) -> None:
    """The client records nothing of it: so it is no part of the trace."""
    before = len(collector.spans)
    traced.configure("proxy", "tracing", ratio=1.0)
    try:
        traced.stop("proxy")
        traced.start("proxy")
        pki = traced.place.pki
        with Client(
            f"https://{HOST}:{traced.ports.proxy}",
            ca=pki / "ca.pem",
            cert=pki / "client_001.pem",
            key=pki / "client_001.key",
        ) as client:
            receipt = client.send("+49151123456", "hello")
        wait_until(lambda: named(collector.spans[before:], str(receipt.message_id)), 20)
        (sending,) = named(collector.spans[before:], str(receipt.message_id))
        spans = by_name(trace(collector, recorded(sending.trace_id, sending.span_id), len(WAY) + 1))
        assert spans[f"POST {MESSAGES}"].parent_id == ""
    finally:
        traced.configure("proxy", "tracing", ratio=0.0)
        traced.stop("proxy")
        traced.start("proxy")


def named(spans: list[Seen], message_id: str) -> list[Seen]:
    sent = [one for one in spans if one.name == f"send {QUEUE}"]
    return [one for one in sent if one.attributes.get("messaging.message.id") == message_id]


def test_nothing_that_was_sent_is_in_any_span(traced: Rig, collector: Collector) -> None:
    body, number, key = f"canary-{secrets.token_hex(8)}", "+4915198765432", secrets.token_hex(12)
    parent, refused = marked(), marked()
    sent = submission(message_body=body, sender_number=number)
    with traced.client() as client:
        accepted(post_in(client, parent, sent, key))
        wrong = sent | {body: number, "metadata": {"client_id": body}}
        assert post_in(client, refused, wrong).status_code in (403, 422)
    trace(collector, parent, len(WAY) + 1)
    trace(collector, refused, 1)
    for raw in collector.bodies:
        for secret in (body, number[1:], key, "client_001"):
            assert secret.encode() not in raw


def test_without_the_collector_posts_go_on_and_spans_are_counted(traced: Rig) -> None:
    with traced.client() as client:
        took = []
        for _ in range(20):
            started = time.monotonic()
            accepted(post_in(client, marked()))
            took.append(time.monotonic() - started)
    assert sorted(took)[10] < 0.5
    wait_until(lambda: '"traces.waiting"' in traced.log("proxy"), 20)
    assert traced.ready("proxy")
    traced.stop("proxy", "worker")
    assert "process.failed" not in traced.log("proxy")
    traced.start("proxy", "worker")


def test_a_collector_that_comes_back_is_sent_what_has_waited(traced: Rig, port: int) -> None:
    parent = marked()
    with traced.client() as client:
        accepted(post_in(client, parent))
    with Collector(port) as collector:
        by_name(trace(collector, parent, len(WAY) + 1))
        wait_until(lambda: sent_spans(traced, "proxy") >= 5, 10)


def sent_spans(rig: Rig, name: str) -> float:
    text = httpx.get(f"http://{HOST}:{rig.ops_port(name)}/metrics", trust_env=False).text
    wanted = f'gatepost_{name}_spans_total{{outcome="sent"}} '
    return next(
        (float(line[len(wanted) :]) for line in text.splitlines() if line.startswith(wanted)), 0
    )


def post_in(
    client: httpx.Client, parent: str, sent: dict[str, Any] | None = None, key: str = ""
) -> httpx.Response:
    headers = {"traceparent": parent, **({"idempotency-key": key} if key else {})}
    return client.post(MESSAGES, json=sent or submission(), headers=headers)
