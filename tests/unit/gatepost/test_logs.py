"""Logs: one JSON line an event, and no line ever holds the text of an exception."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from gatepost.errors import ConfigurationError
from gatepost.logs import Log, failure, start_logging

CANARY = "canary-7f3a9"


@pytest.fixture
def bridged() -> Iterator[Log]:
    """The libraries' records pass through our writer, for one test."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield start_logging("proxy", "info")
    root.handlers, root.level = handlers, level


def events(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_event_is_one_line_with_its_time_service_and_process(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Log("proxy").bind(place=1).info("message.accepted", ms=2.5, text="a\nb\u2028c\ud800")
    (event,) = events(capsys)
    assert event["event"] == "message.accepted"
    assert event["service"] == "proxy"
    assert event["level"] == "info"
    assert event["place"] == 1
    assert event["text"] == "a\nb\u2028c\ud800"
    assert event["pid"] > 0
    assert event["ts"][10] == "T"
    assert len(event["ts"]) == len("2025-10-20T12:34:56.789Z")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16", "utf-8"])
def test_a_line_is_utf_8_whatever_the_locale_is(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service under LANG=C must not fail a request because of what its event says."""
    kept = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(kept, encoding))
    Log("proxy").info("message.accepted", text="Grüße, \u20ac, \U0001f600")
    assert json.loads(kept.getvalue())["text"] == "Grüße, \u20ac, \U0001f600"


def test_what_is_below_the_level_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log("proxy", "warning")
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [event["event"] for event in events(capsys)] == ["c", "d"]


def test_the_libraries_write_in_our_format(
    bridged: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("some.library").warning("the %s is %d", "answer", 42)
    logging.getLogger("some.library").info("not of interest")
    (event,) = events(capsys)
    assert event["event"] == "library.log"
    assert event["level"] == "warning"
    assert event["logger"] == "some.library"
    assert event["message"] == "the answer is 42"


def test_of_an_exception_only_the_type_and_the_places_are_written(
    bridged: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ValueError(CANARY)
    except ValueError as error:
        logging.getLogger("some.library").exception("it failed: %s", error)
        logging.getLogger("some.library").error("it failed: %s", CANARY, exc_info=error)
        bridged.error("request.failed", **failure(error))
    written = capsys.readouterr().out
    assert CANARY not in written
    for line in written.splitlines():
        event = json.loads(line)
        assert event["error"] == "ValueError"
        assert "test_logs.py" in event["where"][-1]


def test_but_our_own_words_to_an_operator_are() -> None:
    told = failure(ConfigurationError("/etc/a.pem can't be used: no such file"))
    assert told["reason"] == "/etc/a.pem can't be used: no such file"


def test_a_record_that_can_not_be_formatted_is_no_error_of_its_writer(
    bridged: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    record = logging.LogRecord("some.library", 30, "file.py", 1, "%d of %d", ("few",), None)
    logging.getLogger().handlers[0].handle(record)
    (event,) = events(capsys)
    assert event["logger"] == "some.library"
