"""Both clients against a real TLS server: the same calls, the same answers, the same errors."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from gatepost.client import (
    CertificateError,
    Client,
    Forbidden,
    GatepostError,
    Identity,
    Message,
    NotFound,
    OutcomeUnknown,
    RateLimited,
    Receipt,
    Refused,
    StillWaiting,
    Unavailable,
    UnexpectedAnswer,
)
from gatepost.errors import FieldError
from tests.unit.client.conftest import Either
from tests.unit.client.gateway import (
    ACCEPTED,
    MESSAGE_ID,
    WHOAMI,
    Asked,
    Authority,
    Gateway,
    Pair,
    Told,
    in_batches,
    told_problem,
    told_status,
)

NUMBER = "+15550100200"
BODY = "The very secret words."
QUEUED_AT = datetime(2026, 11, 18, 10, 0, 0, 100_000, tzinfo=UTC)


def send(client: Any) -> Any:
    return client.send(NUMBER, BODY)


def keys(gateway: Gateway) -> list[str]:
    return [asked.headers["Idempotency-Key"] for asked in gateway.asked]


def test_a_send_is_one_post_with_a_key_and_gives_a_receipt(
    either: Either, gateway: Gateway
) -> None:
    receipt: Receipt = either(send)
    (asked,) = gateway.asked
    assert (asked.method, asked.path) == ("POST", "/api/v1/messages")
    assert json.loads(asked.body) == {"sender_number": NUMBER, "message_body": BODY}
    assert asked.headers["Content-Type"] == "application/json"
    assert receipt == Receipt(
        MESSAGE_ID, "queued", QUEUED_AT, "full", asked.headers["X-Request-Id"], keys(gateway)[0]
    )


def test_metadata_is_sent_when_it_is_given(either: Either, gateway: Gateway) -> None:
    moment = datetime(2025, 10, 20, 14, 34, 56, 789_000).astimezone(UTC)
    either(lambda c: c.send(NUMBER, BODY, client_id="client_001", timestamp=moment))
    metadata = json.loads(gateway.asked[0].body)["metadata"]
    assert metadata == {
        "client_id": "client_001",
        "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.789Z",
    }


def test_each_send_has_a_new_key_unless_one_is_given(either: Either, gateway: Gateway) -> None:
    either(send)
    either(send)
    either(lambda c: c.send(NUMBER, BODY, idempotency_key="mine"))
    first, second, third = keys(gateway)
    assert first != second
    assert third == "mine"


def test_what_was_not_accepted_is_sent_again_under_the_same_key(
    either: Either, gateway: Gateway
) -> None:
    gateway.script(
        told_problem(503, "unavailable", retry_after=0),
        told_problem(429, "rate-limited", retry_after=0),
        ACCEPTED,
    )
    assert either(send).message_id == MESSAGE_ID
    assert len(gateway.asked) == 3
    assert len(set(keys(gateway))) == 1


UNKNOWN = [
    Told(hang_up=True),
    Told(502),
    told_problem(500, "internal"),
    told_problem(503, "outcome-unknown", retry_after=0),
    told_problem(409, "still-under-way", retry_after=0),
]


@pytest.mark.parametrize("told", UNKNOWN)
def test_what_may_have_been_accepted_is_sent_again_under_the_same_key(
    either: Either, gateway: Gateway, told: Told
) -> None:
    gateway.script(told, ACCEPTED)
    assert either(send).message_id == MESSAGE_ID
    assert len(gateway.asked) == 2
    assert len(set(keys(gateway))) == 1


@pytest.mark.parametrize("told", UNKNOWN)
def test_what_may_have_been_accepted_is_said_so_with_its_key(
    either: Either, gateway: Gateway, told: Told
) -> None:
    gateway.script(told)
    with pytest.raises(OutcomeUnknown) as caught:
        either(send, retry_for=0)
    assert [caught.value.idempotency_key] == keys(gateway)


@pytest.mark.parametrize(
    "told", [told_problem(429, "rate-limited", retry_after=60), told_problem(403, "wrong-role")]
)
def test_a_try_that_may_have_been_accepted_is_not_forgotten(
    either: Either, gateway: Gateway, told: Told
) -> None:
    gateway.script(Told(hang_up=True), told)
    with pytest.raises(OutcomeUnknown, match="same idempotency key"):
        either(send)
    assert len(gateway.asked) == 2


def test_what_is_refused_for_what_it_is_was_never_accepted(
    either: Either, gateway: Gateway
) -> None:
    gateway.script(Told(hang_up=True), told_problem(422, "invalid"))
    with pytest.raises(Refused):
        either(send)


@pytest.mark.parametrize("told", [Told(hang_up=True), told_problem(500, "internal"), Told(502)])
def test_a_question_that_broke_off_is_asked_again(
    either: Either, gateway: Gateway, told: Told
) -> None:
    gateway.script(told, told_status("queued"))
    assert either(lambda c: c.status(MESSAGE_ID)).status == "queued"


@pytest.mark.parametrize(
    ("status", "slug", "expected"),
    [
        (400, "malformed", Refused),
        (403, "unknown-certificate", Forbidden),
        (413, "too-large", Refused),
        (422, "invalid", Refused),
        (429, "rate-limited", RateLimited),
        (503, "unavailable", Unavailable),
    ],
)
def test_a_problem_becomes_its_error(
    either: Either, gateway: Gateway, status: int, slug: str, expected: type[GatepostError]
) -> None:
    errors = [{"pointer": "/sender_number", "detail": "not E.164"}]
    gateway.script(told_problem(status, slug, "Some words.", errors=errors))
    with pytest.raises(expected) as caught:
        either(send, retry_for=0)
    error = caught.value
    assert type(error) is expected
    assert str(error) == "Some words. (/sender_number: not E.164)"
    assert error.type == f"urn:gatepost:problem:{slug}"
    assert error.detail == "Some words."
    assert error.errors == (FieldError("/sender_number", "not E.164"),)
    assert error.request_id == gateway.asked[0].headers["X-Request-Id"]
    assert error.idempotency_key == keys(gateway)[0]


def test_a_limited_sender_learns_how_long_to_wait(either: Either, gateway: Gateway) -> None:
    gateway.script(told_problem(429, "rate-limited", retry_after=7))
    with pytest.raises(RateLimited) as caught:
        either(send, retry_for=1)
    assert caught.value.retry_after == 7
    assert len(gateway.asked) == 1


@pytest.mark.parametrize(
    "told",
    [
        Told(200, b"<html>" + BODY.encode() + b"</html>", media_type="text/html"),
        Told(404, b"<html>" + BODY.encode() + b"</html>", media_type="text/html"),
        Told(302, b"", {"Location": "https://elsewhere"}),
        Told(202, [BODY]),
        Told(202, {"message_id": 7}),
        Told(202, b"[" * 100_000),
    ],
)
def test_an_answer_of_something_else_is_named_so_and_not_repeated(
    either: Either, gateway: Gateway, told: Told
) -> None:
    gateway.script(told)
    with pytest.raises(UnexpectedAnswer) as caught:
        either(send)
    assert BODY not in f"{caught.value!s}{caught.value!r}"
    assert len(gateway.asked) == 1


def test_status_asks_for_the_message(either: Either, gateway: Gateway) -> None:
    gateway.script(told_status("delivered", 1))
    status = either(lambda c: c.status(MESSAGE_ID))
    assert gateway.asked[0].path == f"/api/v1/messages/{MESSAGE_ID}"
    assert (status.status, status.attempt_count, status.final) == ("delivered", 1, True)
    assert status.delivered_at == QUEUED_AT.replace(microsecond=136_000)


def test_watching_tells_each_change_once_until_the_end(either: Either, gateway: Gateway) -> None:
    gateway.script(
        told_status("queued"),
        told_status("queued"),
        told_status("queued", 1),
        told_problem(503, "unavailable", retry_after=0),
        told_status("delivered", 2),
    )
    changes = either(lambda c: c.watch(MESSAGE_ID))
    assert [(c.status, c.attempt_count) for c in changes] == [
        ("queued", 0),
        ("queued", 1),
        ("delivered", 2),
    ]


def test_a_message_that_is_not_there(either: Either, gateway: Gateway) -> None:
    gateway.script(told_problem(404, "not-found"))
    with pytest.raises(NotFound):
        either(lambda c: c.status(MESSAGE_ID))


def test_a_gateway_without_the_paths_of_a_proxy_is_none(either: Either, gateway: Gateway) -> None:
    gateway.script(told_problem(404, "not-found"))
    for use in (send, lambda c: c.whoami()):
        with pytest.raises(UnexpectedAnswer, match="lead to its proxy"):
            either(use)


def test_waiting_gives_the_end(either: Either, gateway: Gateway) -> None:
    gateway.script(told_status("queued"), told_status("failed", 3))
    assert either(lambda c: c.wait(MESSAGE_ID, timeout=10)).status == "failed"


def test_waiting_too_long_says_where_the_message_is(either: Either, gateway: Gateway) -> None:
    gateway.script(told_status("queued", 4))
    with pytest.raises(StillWaiting) as caught:
        either(lambda c: c.wait(MESSAGE_ID, timeout=0.05))
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.latest.attempt_count == 4


def test_whoami(either: Either, gateway: Gateway) -> None:
    gateway.script(WHOAMI)
    identity: Identity = either(lambda c: c.whoami())
    assert (identity.client_id, identity.domain, identity.role) == (
        "client_001",
        "example.com",
        "client",
    )
    assert identity.certificate.not_after == datetime(2027, 11, 1, tzinfo=UTC)
    assert (identity.limits.rate_per_second, identity.limits.burst) == (100, 200)
    assert identity.formats.max_body_characters == 1000


def test_a_gateway_of_another_ca_gets_nothing(
    either: Either, gateway: Gateway, elsewhere: Authority
) -> None:
    with pytest.raises(CertificateError, match="Give the CA file"):
        either(send, ca=elsewhere.ca)
    assert gateway.asked == []


def test_a_gateway_of_another_name_gets_nothing(either: Either, gateway: Gateway) -> None:
    with pytest.raises(CertificateError, match="host name"):
        either(send, base_url=gateway.url.replace("127.0.0.1", "localhost"))
    assert gateway.asked == []


def test_a_certificate_that_the_gateway_does_not_take(
    gateway: Gateway, authority: Authority, elsewhere: Authority
) -> None:
    foreign, old = elsewhere.issue("foreign"), authority.issue("old", days=-1)
    for pair, words in ((foreign, "does not know the CA"), (old, "has expired")):
        with (
            Client(gateway.url, ca=authority.ca, cert=pair.cert, key=pair.key) as client,
            pytest.raises(CertificateError, match=words),
        ):
            client.send(NUMBER, BODY)
    assert gateway.asked == []


def test_nobody_there_is_unavailable_and_tried_until_time_is_up(either: Either) -> None:
    with pytest.raises(Unavailable, match="nothing listens") as caught:
        either(send, base_url="https://127.0.0.1:1", retry_for=0.1)
    assert caught.value.idempotency_key


def test_a_slow_answer_has_an_unknown_outcome(either: Either, gateway: Gateway) -> None:
    def never(_: Asked) -> Told:
        released.wait(10)
        return ACCEPTED

    released = Event()
    gateway.answer = never
    with pytest.raises(OutcomeUnknown, match="in time"):
        either(send, timeout=0.1, retry_for=0)
    released.set()


def test_nothing_shows_what_was_sent(
    either: Either, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    gateway.script(told_problem(503, "unavailable", retry_after=0), ACCEPTED)
    shown = [repr(either(send))]
    gateway.script(told_problem(422, "invalid"))
    with pytest.raises(Refused) as caught:
        either(send)
    shown += [str(caught.value), repr(caught.value), repr(vars(caught.value)), caplog.text]
    assert "Trying again" in caplog.text
    for text in shown:
        assert NUMBER not in text
        assert BODY not in text


def test_the_environment_names_no_proxy(
    either: Either, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert either(send).status == "queued"


def test_a_lone_surrogate_is_left_to_the_gateway_to_refuse(
    either: Either, gateway: Gateway
) -> None:
    either(lambda c: c.send(NUMBER, "\ud800"))
    assert b"\\ud800" in gateway.asked[0].body


@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 256, "a\n"])
def test_an_impossible_key_is_refused_before_anything_is_sent(
    either: Either, gateway: Gateway, key: str
) -> None:
    with pytest.raises(ValueError, match="visible ASCII"):
        either(lambda c: c.send(NUMBER, BODY, idempotency_key=key))
    assert gateway.asked == []


@pytest.mark.parametrize("message_id", ["", "..", "../whoami", NUMBER])
def test_an_impossible_message_id_is_refused_before_anything_is_asked(
    either: Either, gateway: Gateway, message_id: str
) -> None:
    with pytest.raises(ValueError, match="is a UUID") as caught:
        either(lambda c: c.status(message_id))
    assert NUMBER not in str(caught.value)
    assert gateway.asked == []


def test_only_https_without_frills_is_an_address(authority: Authority, client_pair: Pair) -> None:
    for address in (
        "http://127.0.0.1:1",
        "127.0.0.1",
        "https://",
        "https://me:pw@h",
        "https://h:x",
        "https://h:99999",
    ):
        with pytest.raises(ValueError, match="base_url") as caught:
            Client(address, ca=authority.ca, cert=client_pair.cert, key=client_pair.key)
        assert "pw" not in str(caught.value)


def test_many_are_sent_and_those_that_were_too_fast_come_again(
    either: Either, gateway: Gateway
) -> None:
    """As the gateway tells it: whole seconds to wait, and beside them the rate."""
    policy = {"RateLimit-Policy": '"client";q=1000;w=1', "Retry-After": "1"}
    limited = replace(told_problem(429, "rate-limited"), headers=policy)
    told = iter([ACCEPTED, limited, told_problem(422, "invalid")])
    gateway.answer = in_batches(lambda _: next(told, ACCEPTED))
    messages = [Message(NUMBER, BODY, idempotency_key=key, priority=7) for key in "abc"]
    sent = either(lambda client: client.send_many(messages), retry_for=0.9)
    assert [one.idempotency_key for one in sent] == ["a", "b", "c"]
    assert [one.receipt is not None for one in sent] == [True, True, False]
    assert isinstance(sent[2].error, Refused)
    lines = [[json.loads(line) for line in asked.body.split(b"\n")] for asked in gateway.asked]
    assert [[item["idempotency_key"] for item in items] for items in lines] == [
        ["a", "b", "c"],
        ["b"],
    ]
    assert lines[0][0]["priority"] == 7


def test_what_is_said_of_when_is_sent(either: Either, gateway: Gateway) -> None:
    due = datetime(2026, 11, 18, 12, tzinfo=UTC)
    said = {"priority": 9, "ttl": 60, "ordering_key": "line"}
    either(lambda client: client.send(NUMBER, BODY, due_at=due, **said))
    sent = json.loads(gateway.asked[0].body)
    assert sent.items() >= {**said, "due_at": "2026-11-18T12:00:00.000Z"}.items()
