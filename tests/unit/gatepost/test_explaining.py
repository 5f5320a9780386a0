"""Each problem has its explanation, and each explanation its problem."""

import tomllib
from pathlib import Path

import pytest

import gatepost
from gatepost.errors import NotFound, RetryableError
from gatepost.explaining import Repeat, explain, explanations
from gatepost.problem import INTERNAL, KINDS, describe

WRITTEN = tomllib.loads((Path(gatepost.__file__).with_name("problems.toml")).read_text())


def test_they_are_those_that_there_are() -> None:
    assert set(WRITTEN) == {kind.slug for kind in KINDS.values()} | {INTERNAL.slug}


@pytest.mark.parametrize("slug", WRITTEN)
def test_it_says_when_and_what_to_do(slug: str) -> None:
    assert set(WRITTEN[slug]) == {"when", "do", "repeat"}
    assert all(WRITTEN[slug][part].endswith(".") for part in ("when", "do"))


def test_what_may_be_repeated_is_what_says_when_to_come_back() -> None:
    later = {kind.slug for error, kind in KINDS.items() if issubclass(error, RetryableError)} | {
        INTERNAL.slug
    }
    told = {s for s, one in explanations().items() if one.repeat in (Repeat.LATER, Repeat.SAME_KEY)}
    assert told == later


def test_it_is_found_by_the_type_as_it_is_answered() -> None:
    answered = describe(NotFound()).document["type"]
    found = explain(answered)
    assert found is not None
    assert found.type == answered
    assert explain("about:blank") is None
