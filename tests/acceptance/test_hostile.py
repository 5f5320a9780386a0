"""A few of what `./dev hostile` sends, against an oracle written apart from the product."""

import asyncio

import pytest

from tests.acceptance.site import Site
from tests.hostile.attack import call_everything, send_posts
from tests.hostile.peers import Attacked, attack, processes

SEED = 20_261_119


@pytest.fixture(scope="module")
def attacked(site: Site) -> Attacked:
    return attack(site)


def test_each_post_is_answered_as_an_oracle_says(attacked: Attacked) -> None:
    part = asyncio.run(send_posts(attacked, SEED, 2500))
    assert part.answers.wrong == []
    assert part.answers.count == 2500


def test_no_call_of_any_route_is_answered_as_a_fault_of_ours(attacked: Attacked) -> None:
    before = processes(attacked.site)
    part = asyncio.run(call_everything(attacked, SEED, 2400))
    assert part.answers.wrong == []
    assert processes(attacked.site) == before
