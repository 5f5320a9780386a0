"""`gatepost problem`, and the line that leads to it."""

from gatepost.problem import KINDS
from tests.unit.cli.conftest import Command


def test_a_type_is_explained(alone: Command) -> None:
    ran = alone("problem", "urn:gatepost:problem:rate-limited")
    assert ran.code == 0
    assert ran.out.startswith("Too many requests, status 429\n")
    assert "Retry-After" in ran.out


def test_its_last_part_will_do_and_scripts_are_told_as_well(alone: Command) -> None:
    (said,) = alone("problem", "rate-limited", "--json").results
    assert said["type"] == "urn:gatepost:problem:rate-limited"
    assert said["repeat"] == "later"


def test_all_are_listed(alone: Command) -> None:
    listed = {line.split()[1] for line in alone("problem").out.splitlines()}
    assert listed >= {kind.slug for kind in KINDS.values()}


def test_an_unknown_one_is_said_to_be_so(alone: Command) -> None:
    ran = alone("problem", "nonsense")
    assert ran.code == 4
    assert "nonsense" not in ran.out + ran.err
