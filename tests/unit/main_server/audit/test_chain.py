"""The audit log's chain: each entry holds all of what it says, and the hash of the one before."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from main_server.audit.chain import Entry, Head, link, parse_head

START = Head(0, bytes(32))
NOW = datetime(2026, 11, 18, 14, 0, 0, 123000)
ENTRY = Entry("shell:root", "certificate.revoked", "serial 01", "example.com", {"serials": ["01"]})


def test_an_entry_hangs_on_the_head() -> None:
    one = link(ENTRY, START, NOW)
    two = link(ENTRY, Head(one.seq, one.hash), NOW)
    assert (one.seq, two.seq) == (1, 2)
    assert two.previous == one.hash != two.hash
    assert one.hash == one.expected_hash()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seq", 2),
        ("at", datetime(2026, 11, 18, 14, 0, 0, 124000)),
        ("actor", "shell:other"),
        ("action", "certificate.held"),
        ("domain", None),
        ("subject", "serial 02"),
        ("details", "{}"),
        ("previous", b"x" * 32),
    ],
)
def test_whatever_is_changed_changes_the_hash(name: str, value: Any) -> None:
    one = link(ENTRY, START, NOW)
    assert replace(one, **{name: value}).expected_hash() != one.hash


def test_fields_do_not_run_into_each_other() -> None:
    one = link(replace(ENTRY, actor="ab", action="c"), START, NOW)
    assert link(replace(ENTRY, actor="a", action="bc"), START, NOW).hash != one.hash


def test_a_head_is_read_as_it_is_said() -> None:
    head = Head(7, b"\x01" * 32)
    assert parse_head(str(head)) == head
    for wrong in ("", "7", "7:", "x:" + "00" * 32, "7:00", "-1:" + "00" * 32):
        with pytest.raises(ValueError):  # noqa: PT011 - any of them
            parse_head(wrong)
