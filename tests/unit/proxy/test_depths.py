"""The limit on what waits undelivered in a domain (I11)."""

import pytest

from gatepost.bundle import KnownDomain
from gatepost.errors import Backlogged
from proxy.depths import Depths

DOMAIN = KnownDomain("example.com", None, 10)


def test_below_the_limit_is_taken_and_at_it_refused_with_a_time() -> None:
    depths = Depths()
    depths.saw("example.com", 9)
    depths.check(DOMAIN)
    depths.saw("example.com", 10)
    with pytest.raises(Backlogged) as refused:
        depths.check(DOMAIN)
    assert refused.value.retry_after > 0


def test_another_domains_backlog_is_its_own() -> None:
    depths = Depths()
    depths.saw("other.example", 1000)
    depths.check(DOMAIN)


def test_what_is_accepted_since_the_last_look_counts_for_every_process() -> None:
    depths = Depths(processes=2)
    depths.saw("example.com", 6)
    depths.accepted(DOMAIN)
    depths.check(DOMAIN)
    depths.accepted(DOMAIN)
    with pytest.raises(Backlogged):
        depths.check(DOMAIN)


def test_the_next_look_is_believed() -> None:
    depths = Depths()
    depths.saw("example.com", 10)
    depths.accepted(DOMAIN)
    depths.saw("example.com", 0)
    depths.check(DOMAIN)
