"""`gatepost message`: what people and scripts get for what they give."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from gatepost.cli import reading
from gatepost.cli.submission import LARGEST
from tests.unit.cli.conftest import Command
from tests.unit.client.gateway import (
    ACCEPTED,
    MESSAGE_ID,
    Asked,
    Authority,
    Gateway,
    Told,
    in_batches,
    told_problem,
    told_status,
)

NUMBER = "+15550100200"
BODY = "The very secret words."
SUBMISSION = {"sender_number": NUMBER, "message_body": BODY}


def as_json(**more: object) -> str:
    return json.dumps({**SUBMISSION, **more})


def sent(gateway: Gateway) -> list[object]:
    return [json.loads(asked.body) for asked in gateway.asked if asked.method == "POST"]


def test_a_message_on_stdin_is_sent_and_told_in_one_line(
    gatepost: Command, gateway: Gateway
) -> None:
    ran = gatepost("message", "send", stdin=as_json())
    assert ran.code == 0
    words = rf"queued +{MESSAGE_ID}  in [\d.]+ m?s, kept by queue and ledger\n"
    assert re.fullmatch(words, ran.out)
    assert ran.err == ""
    assert sent(gateway) == [SUBMISSION]


def test_a_script_gets_one_json_line_with_the_key(gatepost: Command, gateway: Gateway) -> None:
    ran = gatepost("message", "send", "--json", stdin=as_json())
    (result,) = ran.results
    key = gateway.asked[0].headers["Idempotency-Key"]
    assert {**ACCEPTED.document, "idempotency_key": key}.items() <= result.items()


def test_metadata_and_key_go_along(gatepost: Command, gateway: Gateway) -> None:
    metadata = {"client_id": "client_001", "timestamp": "2025-10-20T12:34:56.789Z"}
    gatepost("message", "send", stdin=as_json(metadata=metadata, idempotency_key="mine"))
    assert sent(gateway) == [{**SUBMISSION, "metadata": metadata}]
    assert gateway.asked[0].headers["Idempotency-Key"] == "mine"


def test_the_key_can_be_an_option(gatepost: Command, gateway: Gateway) -> None:
    gatepost("message", "send", "--idempotency-key", "mine", stdin=as_json())
    assert gateway.asked[0].headers["Idempotency-Key"] == "mine"


def test_an_impossible_key_is_a_fault_of_the_input(gatepost: Command, gateway: Gateway) -> None:
    ran = gatepost("message", "send", stdin=as_json(idempotency_key="a b"))
    assert ran.code == 3
    assert "visible ASCII" in ran.err
    assert gateway.asked == []


def test_a_message_from_a_file(gatepost: Command, gateway: Gateway) -> None:
    file = gatepost.folder / "message.json"
    file.write_text(json.dumps(SUBMISSION, indent=2))
    assert gatepost("message", "send", "--file", file).code == 0
    assert sent(gateway) == [SUBMISSION]


def test_a_message_from_two_files(gatepost: Command, gateway: Gateway) -> None:
    number, body = gatepost.folder / "number", gatepost.folder / "body"
    number.write_text(f"{NUMBER}\n")
    body.write_text("two\nlines\n")
    assert gatepost("message", "send", "--number-file", number, "--body-file", body).code == 0
    assert (
        gatepost("message", "send", "--number-file", number, "--body-file", "-", stdin=BODY).code
        == 0
    )
    assert sent(gateway) == [{**SUBMISSION, "message_body": "two\nlines"}, SUBMISSION]


def test_waiting_until_it_is_delivered(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(ACCEPTED, told_status("queued"), told_status("delivered", 1))
    ran = gatepost("message", "send", "--wait", stdin=as_json())
    first, second = ran.out.splitlines()
    assert ran.code == 0
    assert first.startswith("queued")
    assert second.endswith("36 ms after it was queued, 1 attempt")


def test_waiting_as_a_script_gives_one_result(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(ACCEPTED, told_status("queued"), told_status("delivered", 1))
    (result,) = gatepost("message", "send", "--wait", "--json", stdin=as_json()).results
    assert (result["status"], result["durability"]) == ("delivered", "full")
    assert result["delivered_at"] == "2026-11-18T10:00:00.136Z"


def test_an_end_other_than_delivery_is_told_by_the_exit_code(
    gatepost: Command, gateway: Gateway
) -> None:
    gateway.script(ACCEPTED, told_status("failed", 3))
    ran = gatepost("message", "send", "--wait", "--json", stdin=as_json())
    assert ran.code == 9
    assert ran.results[0]["status"] == "failed"
    assert ran.error["kind"] == "not-delivered"


def test_what_was_accepted_is_told_even_if_waiting_takes_too_long(
    gatepost: Command, gateway: Gateway
) -> None:
    gateway.script(ACCEPTED, told_status("queued", 2))
    ran = gatepost("message", "send", "--wait", "--timeout", "0.05", "--json", stdin=as_json())
    assert ran.code == 10
    assert ran.results[0]["message_id"] == MESSAGE_ID
    assert ran.results[0]["attempt_count"] == 2


def by_body(asked: Asked) -> Told:
    body = json.loads(asked.body)["message_body"]
    if body == "bad":
        return told_problem(422, "invalid", errors=[{"pointer": "/message_body", "detail": "odd"}])
    if body == "gone":
        return told_problem(503, "unavailable", retry_after=60)
    return ACCEPTED


def test_lines_are_sent_in_order_and_a_bad_one_keeps_no_other(
    gatepost: Command, gateway: Gateway
) -> None:
    gateway.answer = in_batches(by_body)
    lines = [as_json(), as_json(message_body="bad"), "", "{", as_json(message_body="last")]
    ran = gatepost("message", "send", "--lines", "--json", stdin="\n".join(lines))
    assert [result["line"] for result in ran.results] == [1, 2, 4, 5]
    assert [result.get("status") for result in ran.results] == ["queued", None, None, "queued"]
    assert [r["error"]["kind"] for r in ran.results if "error" in r] == ["refused", "invalid-input"]
    assert (ran.code, ran.error["line"]) == (3, 2)
    assert len(lines_sent(gateway)) == 3


def test_lines_stop_where_the_gateway_is_gone(gatepost: Command, gateway: Gateway) -> None:
    gateway.answer = in_batches(by_body)
    lines = [as_json(), as_json(message_body="gone"), *[as_json()] * 2000]
    ran = gatepost("message", "send", "--lines", stdin="\n".join(lines))
    assert ran.code == 5
    assert "Line 2: " in ran.err
    assert re.search(r"The lines after (it|line \d+) were not sent\.", ran.err)
    assert len(lines_sent(gateway)) < 2000


def test_an_overlong_line_is_passed_over(gatepost: Command, gateway: Gateway) -> None:
    gateway.answer = in_batches(by_body)
    lines = ["x" * (3 * LARGEST), as_json()]
    ran = gatepost("message", "send", "--lines", "--json", stdin="\n".join(lines))
    assert [result["line"] for result in ran.results] == [1, 2]
    assert "too large" in ran.results[0]["error"]["message"]
    (line,) = lines_sent(gateway)
    assert line | SUBMISSION == line


def test_lines_that_come_one_by_one_are_sent_one_by_one(gateway: Gateway) -> None:
    """Who reads along is told at once: no part waits until it is full."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as said:
        parts = reading.parts(Path(f"/dev/fd/{read}"), 1000)
        for number in (1, 2):
            said.write(as_json().encode() + b"\n")
            said.flush()
            assert [one[0] for one in next(parts)] == [number]
    assert list(parts) == []
    os.close(read)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--priority", "9", "--ttl", "60"], {"priority": 9, "ttl": 60}),
        (["--due-at", "d", "--expires-at", "e"], {"due_at": "d", "expires_at": "e"}),
        (["--ordering-key", "o"], {"ordering_key": "o"}),
    ],
)
def test_what_is_said_of_when(
    gatepost: Command, gateway: Gateway, options: list[str], said: dict[str, Any]
) -> None:
    assert gatepost("message", "send", *options, stdin=as_json()).code == 0
    assert sent(gateway) == [SUBMISSION | said]


def lines_sent(gateway: Gateway) -> list[dict[str, Any]]:
    return [json.loads(line) for asked in gateway.asked for line in asked.body.split(b"\n")]


def test_arguments_are_refused_without_being_repeated(gatepost: Command, gateway: Gateway) -> None:
    ran = gatepost("message", "send", NUMBER, BODY)
    assert ran.code == 2
    assert "never arguments" in ran.err
    assert NUMBER not in ran.err
    assert BODY not in ran.err
    assert gateway.asked == []


@pytest.mark.parametrize("command", ["show", "watch"])
def test_a_number_in_the_place_of_an_id_is_not_repeated(gatepost: Command, command: str) -> None:
    ran = gatepost("message", command, NUMBER)
    assert ran.code == 2
    assert NUMBER not in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--number-file", "x"),
        ("--body-file", "x"),
        ("--number-file", "x", "--body-file", "x", "--file", "x"),
        ("--number-file", "-", "--body-file", "-"),
        ("--lines", "--number-file", "x", "--body-file", "x"),
        ("--lines", "--idempotency-key", "x"),
        ("--file", "nothing.json"),
        ("--nonsense",),
        ("--timeout", "-1"),
    ],
)
def test_wrong_usage(gatepost: Command, gateway: Gateway, arguments: tuple[str, ...]) -> None:
    ran = gatepost("message", "send", *arguments, stdin=as_json())
    assert (ran.code, ran.out) == (2, "")
    assert gateway.asked == []


@pytest.mark.parametrize(
    ("told", "code", "kind"),
    [
        (told_problem(422, "invalid"), 3, "refused"),
        (told_problem(413, "too-large"), 3, "refused"),
        (told_problem(403, "unknown-certificate"), 8, "forbidden"),
        (told_problem(404, "not-found"), 1, "unexpected-answer"),
        (told_problem(429, "rate-limited", retry_after=60), 5, "rate-limited"),
        (told_problem(503, "unavailable", retry_after=60), 5, "unavailable"),
        (told_problem(503, "outcome-unknown"), 7, "outcome-unknown"),
        (Told(hang_up=True), 7, "outcome-unknown"),
        (Told(200, b"hello", media_type="text/plain"), 1, "unexpected-answer"),
    ],
)
def test_each_refusal_has_its_exit_code(
    gatepost: Command, gateway: Gateway, told: Told, code: int, kind: str
) -> None:
    gateway.script(told)
    ran = gatepost("message", "send", "--retry-for", "0", "--json", stdin=as_json())
    assert (ran.code, ran.out) == (code, "")
    assert (ran.error["kind"], ran.error["exit_code"]) == (kind, code)
    assert ran.error["idempotency_key"] == gateway.asked[0].headers["Idempotency-Key"]
    for text in (NUMBER, BODY):
        assert text not in ran.err


def test_a_problem_is_passed_on_to_scripts_whole(gatepost: Command, gateway: Gateway) -> None:
    errors = [{"pointer": "/sender_number", "detail": "not E.164"}]
    gateway.script(told_problem(422, "invalid", "Some words.", errors=errors))
    error = gatepost("message", "send", "--json", stdin=as_json()).error
    assert error["type"] == "urn:gatepost:problem:invalid"
    assert error["status"] == 422
    assert error["errors"] == errors
    assert error["request_id"] == gateway.asked[0].headers["X-Request-Id"]


def test_what_is_wrong_with_a_message_is_listed(gatepost: Command, gateway: Gateway) -> None:
    places = {"/sender_number": "must be E.164", "/message_body": "must not be blank"}
    errors = [{"pointer": place, "detail": words} for place, words in places.items()]
    gateway.script(told_problem(422, "invalid", "Some words.", errors=errors))
    lines = gatepost("message", "send", stdin=as_json()).err.splitlines()
    assert lines[:3] == [
        "gatepost: Some words.",
        "  /sender_number: must be E.164",
        "  /message_body: must not be blank",
    ]


def test_an_unknown_outcome_names_the_key_to_repeat_it_with(
    gatepost: Command, gateway: Gateway
) -> None:
    gateway.script(told_problem(503, "outcome-unknown"))
    ran = gatepost("message", "send", "--retry-for", "0", stdin=as_json())
    assert gateway.asked[0].headers["Idempotency-Key"] in ran.err


def test_another_ca(gatepost: Command, gateway: Gateway, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other", "another CA")
    ran = gatepost("message", "send", "--ca", other.ca, stdin=as_json())
    assert ran.code == 6
    assert "Give the CA file" in ran.err
    assert gateway.asked == []


def test_nobody_there(gatepost: Command) -> None:
    ran = gatepost(
        "message", "send", "--url", "https://127.0.0.1:1", "--retry-for", "0", stdin=as_json()
    )
    assert ran.code == 5
    assert "nothing listens at that address" in ran.err


def test_show(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(told_status("delivered", 1))
    ran = gatepost("message", "show", MESSAGE_ID)
    assert ran.code == 0
    first, second, *times = ran.out.splitlines()
    assert first.split() == ["delivered", MESSAGE_ID]
    assert second.strip() == "36 ms after it was queued, 1 attempt"
    assert [line.split()[0] for line in times] == ["created", "queued", "delivered"]
    assert "2026-11-18 10:00:00.136 UTC" in times[-1]


def test_show_as_a_script_sees_it(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(told_status("queued"))
    ran = gatepost("message", "show", MESSAGE_ID, "--json")
    assert ran.results == [told_status("queued").document | {"reason": None, "source": None}]


def test_show_why_it_failed(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(told_status("failed", 3, reason="key_conflict"))
    ran = gatepost("message", "show", MESSAGE_ID)
    words = "its Idempotency-Key had been used for another message"
    assert ran.out.splitlines()[2].split(maxsplit=2) == ["reason", "key_conflict", words]
    gateway.script(told_status("failed", 3, reason="of_a_later_gateway"))
    ran = gatepost("message", "watch", MESSAGE_ID)
    assert ran.code == 9
    assert "ended as failed: of a later gateway." in ran.err


def test_show_what_can_not_be_known(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(told_status("unknown", source="queue"))
    ran = gatepost("message", "show", MESSAGE_ID)
    assert ran.out.splitlines()[0].split() == ["unknown", MESSAGE_ID]
    assert "whether it was delivered can't be known just now" in ran.out
    assert "attempt" not in ran.out


def test_show_what_is_not_there(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(told_problem(404, "not-found", "There is nothing here."))
    ran = gatepost("message", "show", MESSAGE_ID)
    assert (ran.code, ran.out) == (4, "")
    assert "No message of this client has that id." in ran.err


def test_watch_tells_each_change(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(told_status("queued"), told_status("queued", 1), told_status("delivered", 2))
    ran = gatepost("message", "watch", MESSAGE_ID)
    assert [line.split()[0] for line in ran.out.splitlines()] == ["queued", "queued", "delivered"]
    gateway.script(told_status("queued"), told_status("failed", 2))
    ran = gatepost("message", "watch", MESSAGE_ID, "--json")
    assert [result["status"] for result in ran.results] == ["queued", "failed"]
    assert ran.code == 9


def test_verbose_says_on_stderr_what_is_used_and_tried(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(told_problem(503, "unavailable", retry_after=0), ACCEPTED)
    ran = gatepost("message", "send", "--verbose", "--json", stdin=as_json())
    assert f"url   {gateway.url}  (from the environment)" in ran.err
    assert "Trying again" in ran.err
    assert len(ran.results) == 1
    assert NUMBER not in ran.err


def test_a_person_is_asked_on_stderr(gatepost: Command, gateway: Gateway) -> None:
    ran = gatepost("message", "send", "--json", stdin=f"{NUMBER}\n{BODY}\n", person=True)
    assert sent(gateway) == [SUBMISSION]
    assert "Number" in ran.err
    assert len(ran.results) == 1


def test_a_person_who_says_nothing_interrupts(gatepost: Command, gateway: Gateway) -> None:
    assert gatepost("message", "send", person=True).code == 130
    assert gateway.asked == []
