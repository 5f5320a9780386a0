"""The targets of the design are met, by figures that the benchmarks wrote."""

import pytest

from infra.dev.paths import ROOT
from infra.site.capacity import Target, targets


@pytest.mark.parametrize("target", targets(), ids=lambda one: one.name)
def test_it_is_met(target: Target) -> None:
    assert target.met, target.words


def test_none_is_missing() -> None:
    wanted = [one.wanted for one in targets()]
    assert wanted == ["100,000", "p95 < 100 ms", "> 50", "p95 < 50 ms", "< 60 s", "< 2 s"]


def test_the_figures_are_those_of_the_pages() -> None:
    written = (ROOT / "docs" / "performance.md").read_text()
    accepted = next(one for one in targets() if one.name == "messages a second")
    assert f"| Gatepost | 64 | {accepted.measured:.0f} |" in written
