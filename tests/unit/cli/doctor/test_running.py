"""Looks stand alone: one that fails or hangs is told so, and stops no other."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatepost.cli.doctor.examining import chosen, exit_code
from gatepost.cli.doctor.look import (
    CantTell,
    Finding,
    Look,
    See,
    State,
    fine,
    unknown,
    warning,
    wrong,
)
from gatepost.cli.doctor.running import Seen, run_all
from gatepost.cli.doctor.site import Site
from gatepost.cli.doctor.telling import document, in_order
from gatepost.cli.failure import Failure

SITE = Site(Path("/nowhere"), False, {})


def look(name: str, see: See) -> Look:
    return Look(name=name, at="a thing", why="it matters", mend=f"gatepost {name}", see=see)


def finding(one: Finding) -> See:
    return lambda _site: [one]


def fails(_site: Site) -> Iterator[Finding]:
    yield fine("so far")
    raise ValueError("what was sent")


def test_what_fails_or_hangs_is_a_finding_and_the_others_are_told() -> None:
    released = threading.Event()

    def hangs(_site: Site) -> list[Finding]:
        released.wait(30)
        return []

    def may_not(_site: Site) -> list[Finding]:
        raise PermissionError(13, "Permission denied", "/etc/secret")

    def cannot(_site: Site) -> list[Finding]:
        raise CantTell("the store is away", "look there")

    looks = [
        look("hangs", hangs),
        look("fails", fails),
        look("may-not", may_not),
        look("cannot", cannot),
        look("good", finding(fine("all is well"))),
    ]
    started = time.monotonic()
    seen = run_all(looks, SITE, 0.5)
    released.set()
    assert time.monotonic() - started < 10
    assert [(one.look.name, one.finding.state, one.finding.found) for one in seen] == [
        ("hangs", State.UNKNOWN, "it took longer than 0.5 s to look"),
        ("fails", State.UNKNOWN, "this look has failed: ValueError"),
        ("may-not", State.UNKNOWN, "/etc/secret may not be read"),
        ("cannot", State.UNKNOWN, "the store is away"),
        ("good", State.OK, "all is well"),
    ]
    assert [one.command for one in seen[2:]] == ["sudo gatepost doctor", "look there", None]
    assert seen[0].command == "gatepost hangs"


def test_a_look_may_find_nothing_and_more_than_one_thing() -> None:
    several = look("several", lambda _site: [fine("one"), wrong("two", "mend it")])
    seen = run_all([look("none", lambda _site: []), several], SITE)
    assert [one.finding.found for one in seen] == ["one", "two"]
    assert in_order(seen) == []
    assert document(seen[1]) == {
        "look": "several",
        "state": "wrong",
        "found": "two",
        "why": "it matters",
        "command": "mend it",
    }


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ([], 0),
        ([fine("")], 0),
        ([fine(""), unknown("")], 3),
        ([unknown(""), warning("")], 1),
        ([warning(""), wrong(""), unknown("")], 2),
    ],
)
def test_exit_codes_are_those_of_monitoring(findings: list[Finding], code: int) -> None:
    assert exit_code([Seen(look("x", fails), one) for one in findings]) == code


def test_looks_are_chosen_by_name() -> None:
    looks = [look(name, fails) for name in ("a", "b", "c")]
    assert [one.name for one in chosen(looks, ["c", "a"], [])] == ["a", "c"]
    assert [one.name for one in chosen(looks, [], ["b"])] == ["a", "c"]
    with pytest.raises(Failure, match="no look d"):
        chosen(looks, [], ["d"])
