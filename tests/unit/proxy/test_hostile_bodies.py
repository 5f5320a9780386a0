"""Whatever is sent, others have their turn: no body holds the loop, and no answer is gigantic."""

import gc
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from proxy.endpoints import BATCH, MESSAGES
from tests.hostile.bodies import Body, batches, mutants, single
from tests.hostile.stalls import STALL_SECONDS, inherent_stall
from tests.unit.proxy.caller import Caller

MOST_OF_AN_ANSWER = 1024 * 1024


@pytest.fixture(autouse=True)
def as_in_a_service() -> Iterator[None]:
    """What was there at the start is frozen (gatepost.service.supervisor)."""
    gc.freeze()
    yield
    gc.unfreeze()


async def asked(path: str, bodies: Iterator[Body]) -> dict[str, Any]:
    """What was answered too late, too long or with an error of ours, by its shape."""
    app, wrong = Caller(granted=10**9).app(), {}
    for body in bodies:
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": [(b"content-type", body.media_type), (b"host", b"127.0.0.1")],
        }
        found = await inherent_stall(app, scope, body.content)
        late = found.seconds > STALL_SECONDS
        if late or found.answer_bytes > MOST_OF_AN_ANSWER or not 200 <= found.status < 500:
            wrong[body.shape] = found
    return wrong


async def test_no_single_post_holds_the_loop() -> None:
    assert await asked(MESSAGES, single(seed=1)) == {}


async def test_no_batch_holds_the_loop() -> None:
    assert await asked(BATCH, batches(seed=1, items=250)) == {}


async def test_what_is_damaged_is_refused_or_accepted_and_nothing_else() -> None:
    assert await asked(MESSAGES, islice(mutants(seed=1), 3000)) == {}


def test_the_same_seed_makes_the_same_bodies() -> None:
    first, again, other = (list(islice(mutants(seed), 50)) for seed in (1, 1, 2))
    assert first == again != other
    assert list(single(1)) == list(single(1)) != list(single(2))
