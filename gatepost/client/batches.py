"""Sends many messages, in batches in which each message is answered for itself. What may be
repeated is, under its own key, until it is accepted, refused for what it is, or has been tried for
long enough.

Nothing is given up silently: each message has its receipt or its error. Messages that share an
ordering key stay in order: what is to be sent again goes before what was not sent yet.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx

from gatepost.client.answers import Receipt, Sent
from gatepost.client.calls import Call, batch_call, check_key, encode
from gatepost.client.errors import GatepostError, OutcomeUnknown, RateLimited, UnexpectedAnswer
from gatepost.client.flows import Flow, Heard, Pause, Timing, log
from gatepost.client.messages import Message
from gatepost.client.parsing import parse_accepted_item
from gatepost.client.refusals import NOT_GATEPOST, refusal, refusal_of_item
from gatepost.client.retries import last_word, pause_before_retry

MOST = 1000
MOST_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class _Item:
    """A message on its way; `unknown` is the error of a try that may have been accepted."""

    key: str
    line: bytes
    sent: Sent | None = None
    unknown: OutcomeUnknown | None = None


@dataclass(slots=True)
class _Going:
    """The progress of a sending: the most messages in a batch, until when it is tried, and how
    often it has failed in a row."""

    most: int
    until: float
    failures: int = 0


def send_many(timing: Timing, messages: Iterable[Message]) -> Flow[list[Sent]]:
    """Send many messages, and return what became of each, in order. `retry_for` begins anew
    whenever one is accepted."""
    items = [_item(number, message) for number, message in enumerate(messages)]
    waiting = deque(items)
    going = _Going(MOST, timing.now() + timing.retry_for)
    while waiting:
        part = _take(waiting, min(going.most, timing.pace.a_second or MOST))
        if wait := timing.pace.wait(len(part), most=timing.retry_for):
            going.until += wait  # it is no failure to wait for one's turn
            yield Pause(wait)
        call = batch_call([item.line for item in part])
        answers = _answers(call, part, (yield call))
        again, error = _settle(timing, going, part, answers)
        waiting.extendleft(reversed(again))
        if error is not None and (pause := _pause(timing, going, error)):
            log.info("%s Trying %d again in %.1f s.", error, len(again), pause)
            yield Pause(pause)
    return [item.sent for item in items if item.sent is not None]


def _item(number: int, message: Message) -> _Item:
    key = str(uuid4()) if message.idempotency_key is None else message.idempotency_key
    try:
        check_key(key)
        return _Item(key, encode({**message.submission(), "idempotency_key": key}))
    except ValueError as error:
        raise ValueError(f"message {number}: {error}") from None


def _take(waiting: deque[_Item], most: int) -> list[_Item]:
    part = [waiting.popleft()]
    size = len(part[0].line)
    while waiting and len(part) < most and size + len(waiting[0].line) < MOST_BYTES:
        part.append(waiting.popleft())
        size += len(part[-1].line)
    return part


def _answers(call: Call, part: Sequence[_Item], heard: Heard) -> list[Receipt | GatepostError]:
    """Return the answer to each item, the same for all where the whole batch was refused."""
    if isinstance(heard, httpx.Response) and heard.is_success:
        return list(_read(call, part, heard))
    error = refusal(call, heard, datetime.now(UTC)) if isinstance(heard, httpx.Response) else heard
    assert error is not None, "a Call is always answered"
    return [error] * len(part)


def _read(
    call: Call, part: Sequence[_Item], response: httpx.Response
) -> Iterator[Receipt | GatepostError]:
    found = _items(response)
    for number, item in enumerate(part):
        told = found[number] if len(found) == len(part) else None
        receipt = parse_accepted_item(told, item.key, response)
        odd = UnexpectedAnswer(NOT_GATEPOST, request_id=call.request_id)
        yield receipt or refusal_of_item(call, response, told) or odd


def _items(response: httpx.Response) -> list[Any]:
    try:
        found = json.loads(response.content)["items"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return []
    return found if isinstance(found, list) else []


def _settle(
    timing: Timing, going: _Going, part: list[_Item], answers: list[Receipt | GatepostError]
) -> tuple[list[_Item], GatepostError | None]:
    """Return the items that are to be sent again, and the error that is the reason."""
    if any(isinstance(answer, Receipt) for answer in answers):
        going.until, going.failures = timing.now() + timing.retry_for, 0
        going.most = min(MOST, going.most + len(part) // 8 + 1)  # it may be an outage that is over
    elif all(isinstance(answer, OutcomeUnknown) for answer in answers):
        going.most = max(1, len(part) // 2)  # perhaps it is more than is done in time
    remaining = going.until - timing.now()
    again, reason = [], None
    for item, answer in zip(part, answers, strict=True):
        if isinstance(answer, Receipt):
            item.sent = Sent(item.key, receipt=answer)
        elif _may_succeed(answer, remaining):
            item.unknown = answer if isinstance(answer, OutcomeUnknown) else item.unknown
            reason = answer if reason is None or isinstance(answer, RateLimited) else reason
            again.append(item)
        else:
            item.sent = Sent(item.key, error=_last_word(item, answer))
    return again, reason


def _may_succeed(error: GatepostError, remaining: float) -> bool:
    return pause_before_retry(error, retries=0, remaining=remaining, jitter=0.0) is not None


def _last_word(item: _Item, error: GatepostError) -> GatepostError:
    """Return the error to tell of this item, a copy of its own: others of the batch may have been
    refused with the same one."""
    last = copy(last_word(error, item.unknown))
    last.idempotency_key = item.key
    return last


def _pause(timing: Timing, going: _Going, error: GatepostError) -> float:
    """Return the seconds to wait before the next batch; a client that is refused for its rate waits
    for its turn instead."""
    if isinstance(error, RateLimited):
        timing.pace.refused(error)
    going.failures += 1
    left = going.until - timing.now()
    jitter = timing.jitter()
    pause = pause_before_retry(error, retries=going.failures - 1, remaining=left, jitter=jitter)
    return max(0.0, left) if pause is None else pause
