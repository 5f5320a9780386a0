"""House rules of the scripts: a header, the right flags, and only keys that were declared."""

import re
from pathlib import Path

import pytest

import gatepost.queue
from gatepost.queue.keys import NAMES
from gatepost.queue.scripts import assemble, read_clock

FOLDER = Path(gatepost.queue.__file__).parent / "lua"
OPERATIONS = sorted(FOLDER.glob("*.lua"))
SHARED = sorted((FOLDER / "shared").glob("*.lua"))
READING = {"exposed", "missing", "peek", "stats"}
# What a script may call a key by: the declared names, and locals that are one of the ready lists.
READY = r"KEYS\[READY(?: \+ (?:priority|list_of\(record\)))?\]|unpack\(KEYS, READY\)"
KEY = re.compile(rf"(?:%s|{READY}|list)[,)]")
WALKING = {
    *("HGETALL", "HKEYS", "HVALS", "KEYS", "LINSERT", "LPOS", "LREM", "SCAN", "SMEMBERS", "SORT"),
    *("ZCOUNT", "ZLEXCOUNT", "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZREVRANGE"),
}
CALL = re.compile(r"redis\.call\(\s*'(\w+)',?\s*([^\n]*)")

operation = pytest.mark.parametrize("file", OPERATIONS, ids=lambda file: file.stem)


@operation
def test_an_operation_has_a_header(file: Path) -> None:
    text = file.read_text()

    for heading in ("KEYS", "ARGV", "Returns"):
        assert re.search(rf"^-- {heading} ", text, re.MULTILINE), f"no {heading}"
    assert file.stem in READING or re.search(r"^-- Keeps ", text, re.MULTILINE), "no invariant"
    assert f"-- {file.stem}: " in text


@operation
def test_only_enqueue_is_refused_by_a_full_redis(file: Path) -> None:
    expected = "#!lua flags=no-writes" if file.stem in READING else "#!lua flags=allow-oom"
    first_line = file.read_text().split("\n")[0]

    assert first_line == ("#!lua" if file.stem == "enqueue" else expected)
    assert assemble(file.stem, read_clock()).text.startswith(first_line + "\n")


@pytest.mark.parametrize("file", OPERATIONS + SHARED, ids=lambda file: file.stem)
def test_keys_are_never_made_up(file: Path) -> None:
    names = "|".join(name.upper() for name in NAMES)
    key = re.compile(KEY.pattern % names)
    for command, rest in CALL.findall(file.read_text()):
        assert command == "TIME" or key.match(rest), f"{command} {rest}"


@pytest.mark.parametrize("file", OPERATIONS + SHARED, ids=lambda file: file.stem)
def test_no_command_walks_a_structure(file: Path) -> None:
    """What a message costs must not grow with what waits."""
    for command, rest in CALL.findall(file.read_text()):
        assert command not in WALKING, command
        assert command != "ZRANGE" or "'LIMIT'" in rest, f"{command} {rest}"


@operation
def test_an_operation_uses_what_it_names(file: Path) -> None:
    text = file.read_text()
    parts = re.findall(r"^--@use (.*)$", text, re.MULTILINE)

    assert len(parts) <= 1
    for part in parts[0].split() if parts else []:
        assert FOLDER / "shared" / f"{part}.lua" in SHARED


def test_each_operation_is_called() -> None:
    called = (FOLDER.parent / "partition.py").read_text()

    assert {file.stem for file in OPERATIONS} == set(
        re.findall(r'(?:call|_mark|_lease)\("([a-z_]+)"', called)
    )


def test_a_test_may_bring_its_own_time() -> None:
    text = assemble("reserve", "-- no clock").text

    assert "-- no clock" in text
    assert "'TIME'" not in text
    assert "'TIME'" in assemble("reserve", read_clock()).text
