"""Intake: before a shared clock has been heard nothing is accepted, for an id is a time."""

import time
from typing import Any

import pytest

from gatepost.clock import Clock
from gatepost.errors import Unavailable, UnknownCertificate
from gatepost.ids import id_ms
from gatepost.queue import Queues
from gatepost.service.tracing import Kind, Sampling, Span, Tracer
from gatepost.trace import is_recorded, recorded, trace_id
from gatepost.wire.envelope import Envelope
from proxy.admission import Submission
from proxy.commit import Durability
from proxy.intake import Intake, Trace
from proxy.senders import Senders
from tests.factories import BODY, NUMBER, bundle, known_client


class Commit:
    """Commits whatever it is given."""

    def __init__(self) -> None:
        self.envelopes: list[Envelope] = []

    async def side_by_side(self, envelope: Envelope, _turn: Any = None) -> Durability:
        self.envelopes.append(envelope)
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
    senders.learn(bundle(domains=[]))
    senders.confirm(time.monotonic())
    with pytest.raises(UnknownCertificate):  # its domain was disabled meanwhile
        await intake.accept(submission, known_client(), None, trace)
    assert counted == ["unavailable", "full"]


async def test_where_it_records_nothing_nobody_behind_it_does() -> None:
    """Whatever the client records: whether a trace is recorded is decided here, once."""
    clock, senders, unused, commit = Clock(), Senders(), None, Commit()
    senders.learn(bundle(known_client()))
    clock.correct(clock.now_ms(), took_ms=0)
    parts: Any = (Queues(unused, "messages"), commit, unused, lambda _: None)  # type: ignore[arg-type]
    intake, keep = Intake(clock, senders, *parts), list[Span]()
    clients = recorded("ab" * 16, "cd" * 8)
    traceparent, span = Tracer(keep.append, Sampling(0.0, True)).receive(clients)
    for given in (Trace("request", clients), Trace("request", traceparent, span)):
        await intake.accept(Submission(NUMBER, BODY, None), known_client(), None, given)
    alone, below = [one.traceparent for one in commit.envelopes]
    assert (trace_id(alone), is_recorded(alone)) == ("ab" * 16, False)
    assert (trace_id(below), is_recorded(below)) == ("ab" * 16, True)
    assert Tracer(keep.append).below(alone, "process", Kind.CONSUMER) is None
