"""What goes to support comes from lists of what may."""

import json

import pytest

from gatepost.cli.doctor.archive import without_secrets
from gatepost.cli.doctor.scrubbing import HIDDEN, events_of, metrics_of, setting, words
from gatepost.cli.doctor.secrets import forms

BODY = "Meet me at nine"
NUMBER = "+4917012345678"
EVENT = {"ts": "2026-11-19T01:02:03.004Z", "level": "info", "service": "proxy", "pid": 12}


def kept(**fields: object) -> dict[str, object]:
    (found,) = events_of([json.dumps({**EVENT, "event": "request.done", **fields})]).kept
    return {name: value for name, value in found.items() if name not in {*EVENT, "event"}}


def test_an_event_keeps_words_and_numbers_that_are_known() -> None:
    fields = {"status": 202, "ms": 1.25, "route": "/api/v1/messages/{id}", "durability": "full"}
    assert kept(**fields) == fields


@pytest.mark.parametrize("value", [BODY, NUMBER, int(NUMBER), [BODY], {"a": BODY}, "4917012345678"])
@pytest.mark.parametrize("name", ["status", "error", "note", "client_id", "where", "logger"])
def test_no_content_comes_by_in_any_field(name: str, value: object) -> None:
    assert kept(**{name: value}).get(name, []) == []


def test_our_own_words_are_kept_unless_a_request_was_about() -> None:
    assert kept(reason="the ledger does not answer") == {"reason": "the ledger does not answer"}
    assert kept(reason=BODY, request_id="abc") == {}
    assert kept(reason=BODY, message_id="019a6f00-0000-7000-8000-000000000001") == {
        "message_id": "019a6f00-0000-7000-8000-000000000001"
    }


def test_what_is_no_event_is_counted() -> None:
    found = events_of([BODY, "{", "[1]", json.dumps({"body": BODY}), "Traceback"])
    assert (found.kept, found.others) == ([], 5)


@pytest.mark.parametrize(
    "text",
    [
        f"refused {NUMBER}",
        "redis://worker:s3cr3tpassword@localhost/0 refuses",
        "token eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJl",
    ],
)
def test_words_lose_numbers_passwords_and_tokens(text: str) -> None:
    said = words(text)
    assert HIDDEN in said
    assert not any(one in said for one in (NUMBER[1:], "s3cr3t", "c2lnbmF0"))


def test_settings_that_are_not_secret_by_their_type() -> None:
    conf = {"spark.hadoop.fs.s3a.secret.key": "abc", "spark.cores": "2"}
    masked = {"spark.hadoop.fs.s3a.secret.key": HIDDEN, "spark.cores": "2"}
    assert setting("spark.conf", conf) == masked
    assert setting("url", "https://me:pw@host:1") == f"https://{HIDDEN}@host:1"


def test_metrics_are_samples_of_ours() -> None:
    text = f'# HELP gatepost_x X\ngatepost_x{{route="a"}} 1.0\nother 1\n{BODY}\ngatepost_y {BODY}\n'
    assert metrics_of(text) == ["# HELP gatepost_x X", 'gatepost_x{route="a"} 1.0']


def test_at_last_what_holds_a_secret_is_left_out_whatever_form_it_has() -> None:
    secret = bytes(range(32))
    for form in forms(secret):
        found = without_secrets({"a": b"x" * 7 + form + b"y", "b": b"nothing"}, {secret})
        assert set(found) == {"b", "left_out.json"}
    assert set(without_secrets({"b": b"nothing"}, {secret})) == {"b"}
