"""Intake: before a shared clock has been heard nothing is accepted, for an id is a time."""

from typing import Any

import pytest

from gatepost.clock import Clock
from gatepost.envelope import Envelope
from gatepost.errors import Unavailable
from gatepost.ids import id_ms
from gatepost.queue import Queues
from proxy.admission import Submission
from proxy.commit import Durability
from proxy.intake import Intake, Trace
from proxy.senders import Senders
from tests.factories import BODY, NUMBER, bundle, known_client


class Commit:
    """Commits whatever it is given."""

    async def side_by_side(self, _envelope: Envelope) -> Durability:
        return Durability.FULL


async def test_nothing_is_accepted_before_a_shared_clock_was_heard() -> None:
    clock, senders = Clock(), Senders()
    unused: Any = None
    senders.learn(bundle(known_client()))
    commit: Any = Commit()
    counted: list[str] = []
    intake = Intake(clock, senders, Queues(unused, "messages"), commit, unused, counted.append)
    submission, trace = Submission(NUMBER, BODY, None), Trace("request", "trace")
    with pytest.raises(Unavailable, match="time"):
        await intake.accept(submission, known_client(), None, trace)
    told = clock.now_ms() + 3_600_000
    clock.correct(told, took_ms=0)
    accepted, replayed = await intake.accept(submission, known_client(), None, trace)
    assert abs(id_ms(accepted.message_id) - told) < 10_000
    assert (accepted.durability, replayed) == ("full", False)
    assert counted == ["unavailable", "full"]
