"""Log lines as people see them: short, in order, and nothing invented."""

import json
from pathlib import Path

import pytest

from infra.dev.follow import Follower
from infra.dev.lines import render


@pytest.fixture(autouse=True)
def wide_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def line(**fields: object) -> str:
    record = {"ts": "2026-11-18T10:07:51.123Z", "level": "info", "service": "proxy", "pid": 7}
    return json.dumps({**record, **fields})


def test_an_event_is_its_time_service_name_and_fields() -> None:
    text = line(event="message.accepted", message_id="01a1", ms=1.2, request_id="r", reason=None)
    assert render("proxy", text, colour=False) == (
        "10:07:51.123  proxy        message.accepted       message_id=01a1  ms=1.2"
    )


def test_a_line_fits_the_screen() -> None:
    text = line(event="request.served", **{f"field{n}": "x" * 100 for n in range(9)})
    assert len(render("proxy", text, colour=False)) <= 120


def test_a_value_of_several_lines_stays_on_one() -> None:
    text = line(event="process.failed", where=["a.py:1 f", "b.py:2 g"], why="one\ntwo")
    assert render("proxy", text, colour=False).endswith("where=a.py:1 f, b.py:2 g  why=one two")


@pytest.mark.parametrize("text", ["Traceback (most recent call last):", "[1]", '{"ts": 3}', "null"])
def test_what_is_no_event_is_shown_as_it_is(text: str) -> None:
    assert render("worker", text, colour=False) == f"{'':12}  worker       {text}"


def test_warnings_stand_out_in_colour() -> None:
    text = render("proxy", line(event="bundle.late", level="warning"), colour=True)
    assert "\033[33mbundle.late" in text


def test_lines_of_several_files_come_in_the_order_of_time(tmp_path: Path) -> None:
    for name, second in (("worker", 2), ("proxy", 1)):
        first = f'{{"ts": "2026-11-18T10:00:0{second}.000Z", "event": "{name}"}}\n'
        (tmp_path / name).write_text(first + "Traceback\n")
    follower = Follower({n: tmp_path / n for n in ("worker", "proxy", "none")}, from_end=False)
    assert [one.name for one in follower.new_lines()] == ["proxy", "proxy", "worker", "worker"]
    assert follower.new_lines() == []


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    file = tmp_path / "proxy"
    file.write_text("old\n")
    follower = Follower({"proxy": file}, from_end=True)
    with file.open("a") as stream:
        stream.write("ha")
        stream.flush()
        assert follower.new_lines() == []
        stream.write("lf\n")
        stream.flush()
        assert [one.text for one in follower.new_lines()] == ["half"]


def test_a_file_begun_anew_is_read_from_its_start(tmp_path: Path) -> None:
    file = tmp_path / "proxy"
    file.write_text("a long line of old\n")
    follower = Follower({"proxy": file}, from_end=True)
    file.write_text("new\n")
    assert [one.text for one in follower.new_lines()] == ["new"]
