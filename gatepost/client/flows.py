"""The logic of the client, once for both: generators that say what to do next and are told what
came of it.

A flow yields a Call (answered with a response or an error) or a Pause (answered with nothing); the
two clients only carry these out, one by blocking, the other by awaiting. So retries, deadlines and
following a message can't differ between them.
"""

import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar
from uuid import UUID, uuid4

import httpx

from gatepost.client.answers import Identity, MessageStatus, Receipt
from gatepost.client.calls import Call, send_call, status_call, whoami_call
from gatepost.client.errors import GatepostError, OutcomeUnknown, RateLimited, StillWaiting
from gatepost.client.messages import Message
from gatepost.client.pace import Pace
from gatepost.client.parsing import parse_identity, parse_receipt, parse_status
from gatepost.client.refusals import refusal
from gatepost.client.retries import last_word, pause_before_retry

log = logging.getLogger("gatepost.client")

FIRST_LOOK = 0.02
LOOK_SHARE = 0.2
LONGEST_LOOK = 2.0


@dataclass(frozen=True, slots=True)
class Pause:
    """A step that does nothing for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock and the chance that a flow uses, how long it keeps trying, and the pace at which it
    may send, and that at which it may ask."""

    retry_for: float
    now: Callable[[], float]
    jitter: Callable[[], float]
    pace: Pace
    asking: Pace


T = TypeVar("T")
Heard: TypeAlias = httpx.Response | GatepostError | None
Flow: TypeAlias = Generator[Call | Pause, Heard, T]
Watch: TypeAlias = Generator[Call | Pause | MessageStatus, Heard, None]


def exchange(call: Call, timing: Timing, retry_for: float) -> Flow[httpx.Response]:
    """Make one call, repeated as `retries` allows, until it succeeds or `retry_for` seconds are
    over."""
    pace = timing.pace if call.method == "POST" else timing.asking
    if wait := pace.wait(most=retry_for):
        yield Pause(wait)
    until = timing.now() + retry_for
    retries = 0
    unknown: OutcomeUnknown | None = None
    while True:
        heard = yield call
        if isinstance(heard, httpx.Response):
            if heard.is_success:
                return heard
            heard = refusal(call, heard, datetime.now(UTC))
        assert heard is not None, "a Call is always answered"
        remaining = until - timing.now()
        pause = _pause(pace, heard, retries, remaining, timing.jitter())
        if pause is None:
            raise last_word(heard, unknown)
        if isinstance(heard, OutcomeUnknown):
            unknown = heard
        retries += 1
        log.info("%s Trying again in %.1f s (request %s).", heard, pause, call.request_id)
        yield Pause(pause)


def _pause(
    pace: Pace, error: GatepostError, retries: int, remaining: float, jitter: float
) -> float | None:
    """Return the seconds until the next try, in its turn; None if there is to be none."""
    if isinstance(error, RateLimited):
        pace.refused(error)
    pause = pause_before_retry(error, retries=retries, remaining=remaining, jitter=jitter)
    if pause is None or not isinstance(error, RateLimited):
        return pause
    turn = pace.wait(most=remaining)
    return None if turn is None else max(pause, turn)


def send(timing: Timing, message: Message) -> Flow[Receipt]:
    """Send a message under one key, its repetitions included."""
    key = message.idempotency_key
    call = send_call(message, str(uuid4()) if key is None else key)
    try:
        return parse_receipt(call, (yield from exchange(call, timing, timing.retry_for)))
    except GatepostError as error:
        error.idempotency_key = call.headers["Idempotency-Key"]
        raise


def status(timing: Timing, message_id: UUID | str) -> Flow[MessageStatus]:
    response = yield from exchange(status_call(message_id), timing, timing.retry_for)
    return parse_status(response)


def whoami(timing: Timing) -> Flow[Identity]:
    return parse_identity((yield from exchange(whoami_call(), timing, timing.retry_for)))


def watch(timing: Timing, message_id: UUID | str, timeout: float) -> Watch:
    """Yield each change of a message, from its present status to its final one."""
    call = status_call(message_id)
    started = timing.now()
    latest: MessageStatus | None = None
    while True:
        left = started + timeout - timing.now()
        response = yield from exchange(call, timing, min(timing.retry_for, left))
        current = parse_status(response)
        if current != latest:
            yield current
        if current.final:
            return
        latest = current
        passed = timing.now() - started
        if passed >= timeout:
            raise StillWaiting(f"The message is still {current.status}.", current)
        yield Pause(min(next_look(passed), timeout - passed))


def next_look(passed: float) -> float:
    """Return the seconds until the next look: soon at first, then a fixed share of the time gone
    by."""
    return min(LONGEST_LOOK, max(FIRST_LOOK, passed * LOOK_SHARE))
