"""POST /api/v1/messages/batch: up to 1,000 messages in one call, each answered for itself.

A JSON array, or NDJSON with one message a line; an item may carry an `idempotency_key`. The answer
is 200 with an item for each: a message that is refused doesn't touch the others.

A long body is paid for before it is worked on, and worked on in steps: other requests have their
turn in between, whatever is in it.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from gatepost.errors import (
    FieldError,
    GatepostError,
    Invalid,
    Malformed,
    OutcomeUnknown,
    Unavailable,
)
from gatepost.loops import Turn
from gatepost.problem import describe
from gatepost.service.asgi import Receive, Scope, Send, read_body, respond
from gatepost.service.requests import Context, context_of
from gatepost.wire.bundle import KnownClient
from proxy.admission import admit_document
from proxy.edge import Edge, domain_of, sender_of, take_token
from proxy.headers import bad_key, check_body_headers
from proxy.intake import Trace
from proxy.json_arrays import read_array
from proxy.limits import rate_headers
from proxy.lines import Lines
from proxy.strict_json import parse

MAX_ITEMS = 1000
MAX_BATCH_BYTES = 16 * 1024 * 1024
MAX_LINE_BYTES = 16 * 1024
AT_ONCE = 8
"""The items that are begun in one turn: to admit and seal one takes a tenth of a millisecond."""

_NDJSON = b"application/x-ndjson"
_encode = msgspec.json.Encoder().encode

Item = Callable[[], Any]
"""A function that gives an item's document, or raises Malformed."""


async def accept_batch(edge: Edge, scope: Scope, receive: Receive, send: Send) -> None:
    context = context_of(scope)
    client = sender_of(edge, scope)
    media_type = check_body_headers(scope, MAX_BATCH_BYTES, b"application/json", _NDJSON)
    domain_of(edge, client)
    await take_token(edge, scope, client)  # for the first item: without it nothing is read
    body = await read_body(receive, MAX_BATCH_BYTES)
    paid = edge.limits.at_most(client, max(1, len(body) // MAX_LINE_BYTES))
    if paid > 1:  # by its length it is as much as so many items at least
        await take_token(edge, scope, client, paid - 1)
    items = await _all(_lines(body) if media_type == _NDJSON else _elements(body))
    if context.span is not None:
        context.span.attributes["messaging.batch.message_count"] = len(items)
        context.span.step("admit")

    answers = await _answer_all(edge, client, context, items, paid)

    context.event = "batch.accepted"
    context.fields["messages"] = len(items)
    context.fields["accepted"] = sum(answer["status"] == 202 for answer in answers)
    refused = (answer["problem"] for answer in answers if answer["status"] == 429)
    wait = max((problem["retry_after"] for problem in refused), default=1)
    left = edge.limits.left(client)
    context.headers = rate_headers(edge.limits.granted(client), left, wait)
    await respond(send, 200, _encode({"items": answers}))


async def _all(found: Iterator[Item | None]) -> list[Item]:
    turn = Turn()
    items: list[Item] = []
    for item in found:
        if item is not None:
            if len(items) == MAX_ITEMS:
                raise _wrong_size()
            items.append(item)
        await turn.step()
    if not items:
        raise _wrong_size()
    return items


async def _answer_all(
    edge: Edge, client: KnownClient, context: Context, items: list[Item], paid: int
) -> list[dict[str, Any]]:
    """Answer all items. They begin in their order, which lines keep: so each is paid for before the
    next one is. From the first item on that can't be paid for, none is."""
    lines, unpaid = Lines(), None
    async with asyncio.TaskGroup() as group:
        answering = []
        for n, item in enumerate(items):
            if n >= paid and unpaid is None:
                unpaid = await _pay(edge, client, context)
            answer = _answer(edge, client, context, lines, n, item, unpaid)
            answering.append(group.create_task(answer))
            if n % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
    return [one.result() for one in answering]


async def _pay(edge: Edge, client: KnownClient, context: Context) -> GatepostError | None:
    """Take a token; return why there is none. The items before are under way by now, and must not
    be broken off."""
    try:
        await edge.limits.take(client)
    except GatepostError as error:
        return error
    except Exception as error:
        context.unexpected = context.unexpected or error
        return Unavailable()
    return None


async def _answer(
    edge: Edge,
    client: KnownClient,
    context: Context,
    lines: Lines,
    index: int,
    item: Item,
    unpaid: GatepostError | None,
) -> dict[str, Any]:
    """Return what a single post of this item would have been answered. An error that nobody thought
    of may have come after its commit: then it is unknown what came of this item, and of no other
    (I1)."""
    try:
        domain = domain_of(edge, client)
        if unpaid is not None:
            raise unpaid
        document = item()
        key = _take_key(document)
        submission = admit_document(document, client.identity, edge.rules)
        trace = Trace(context.request_id, context.traceparent, context.span)
        async with lines.join(submission.schedule.ordering_key):
            accepted, _ = await edge.intake.accept(submission, client, key, trace)
        edge.depths.accepted(domain)
    except GatepostError as error:
        lines.refused(error)
        return _refusal(index, error)
    except Exception as error:
        context.unexpected = context.unexpected or error
        unknown = OutcomeUnknown()
        lines.refused(unknown)
        return _refusal(index, unknown)
    return {
        "index": index,
        "status": 202,
        "message_id": str(accepted.message_id),
        "queued_at": accepted.queued_at,
        "durability": accepted.durability,
    }


def _refusal(index: int, error: GatepostError) -> dict[str, Any]:
    problem = describe(error)
    return {"index": index, "status": problem.status, "problem": problem.document}


def _take_key(document: Any) -> str | None:
    """Return the item's own Idempotency-Key, taken out of it."""
    if not isinstance(document, dict) or "idempotency_key" not in document:
        return None
    key = document.pop("idempotency_key")
    if not isinstance(key, str) or not 1 <= len(key) <= 255:
        raise bad_key("/idempotency_key")
    if not all("\x21" <= character <= "\x7e" for character in key):
        raise bad_key("/idempotency_key")
    return key


def _elements(body: bytes) -> Iterator[Item]:
    documents = read_array(body, longest=MAX_LINE_BYTES)
    if documents is None:
        raise _wrong_size()
    return (partial(_same, document) for document in documents)


def _same(document: Any) -> Any:
    return document


def _lines(body: bytes) -> Iterator[Item | None]:
    """Yield the lines' items; None is a blank line, of which there may be as many as of messages.
    Nothing past the length that a line may have is looked at."""
    begin = blank = 0
    while begin < len(body):
        end = body.find(b"\n", begin)
        end = len(body) if end < 0 else end
        line = body[begin : min(end, begin + MAX_LINE_BYTES + 1)]
        begin = end + 1
        if line.isspace() or not line:
            blank += 1
            if blank > MAX_ITEMS:
                raise _wrong_size()
            yield None
        else:
            yield partial(_read_line, line)


def _wrong_size() -> Invalid:
    return Invalid(
        errors=[FieldError("", f"must be an array or lines of 1 to {MAX_ITEMS} messages")]
    )


def _read_line(line: bytes) -> Any:
    if len(line) > MAX_LINE_BYTES:
        raise Malformed(f"A line may have {MAX_LINE_BYTES} bytes at most.")
    return parse(line)
