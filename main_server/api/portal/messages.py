"""The portal's calls about messages, for a person: lists, one with its story, its content."""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import APIRouter, Query, Request, Response

from gatepost.clock import from_ms
from gatepost.errors import CannotOpen, FieldError, Invalid, NotFound
from gatepost.service.requests import context_of
from gatepost.wire.contract import encode_json
from gatepost.wire.shown import OpenedMessage, OpenOrder, Sender, SenderSearch
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.viewers import viewer_of
from main_server.buckets import Buckets
from main_server.messages.reading.asking import asked_by, macs_of, number_in, span_of
from main_server.messages.reading.crossing import note_crossing
from main_server.messages.reading.documents import message_document, page_document
from main_server.messages.reading.masking import mask
from main_server.messages.reading.opening import Opening, open_message
from main_server.messages.reading.scope import Asked, domain_within
from main_server.messages.reading.search import Query as Wanted
from main_server.messages.reading.search import search, with_numbers
from main_server.messages.reading.story import Story, ended_story, story_of
from main_server.people.users.viewer import Viewer
from main_server.retention.spoken import days_kept

NUMBERS_A_SECOND, NUMBERS_AT_ONCE = 0.5, 30
"""Limits of one person's searches by number: whoever could try all numbers would find the hidden
digits of a masked one."""
TOO_MANY_NUMBERS = "Too many numbers are looked for."


class Status(StrEnum):
    QUEUED = "queued"
    DELIVERED = "delivered"
    FAILED = "failed"
    ERASED = "erased"
    DUPLICATE = "duplicate"


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/messages")
    viewer = viewer_of(context)
    searches = Buckets(NUMBERS_A_SECOND, NUMBERS_AT_ONCE, TOO_MANY_NUMBERS)

    @router.get("")
    async def list_messages(
        first: Annotated[datetime | None, Query(alias="from")] = None,
        end: Annotated[datetime | None, Query(alias="to")] = None,
        status: Status | None = None,
        client: str | None = None,
        domain: str | None = None,
        sender: str | None = None,
        before: str | None = None,
        asker: Viewer = viewer,
    ) -> Response:
        asked = asked_by(asker, domain, client)
        span = span_of(first, end, now_of(context), before)
        wanted = Wanted(span, asked, status.value if status else None, macs_of(sender))
        details = {"status": status, "number": bool(sender), "page": before or "first"}
        await cross(context, asker, "messages.listed", asked, details)
        as_of = context.shown.as_of()
        found = await context.shown.run(search, asker, wanted)
        page = await context.ledger.run(with_numbers, context.keyring, found)
        kept = await context.ledger.run(days_kept, asker, asked)
        return answer(msgspec.structs.replace(page_document(page), as_of=as_of, **kept))

    @router.post("/sender")
    async def name_sender(request: Request, asker: Viewer = viewer) -> Response:
        searches.take(asker.user_id)
        context_of(request.scope).event = "sender.searched"
        return answer(_name_sender(context, asker, await read(request, SenderSearch)))

    @router.get("/{message_id}")
    async def show_message(message_id: UUID, asker: Viewer = viewer) -> Response:
        story, as_of = await _story_of(context, message_id, asker)
        asked = Asked(story.row.domain, story.row.client_id)
        await cross(context, asker, "message.seen", asked, {"message_id": str(message_id)})
        return answer(msgspec.structs.replace(message_document(story), as_of=as_of))

    @router.post("/{message_id}/open")
    async def open_one(message_id: UUID, request: Request, asker: Viewer = viewer) -> Response:
        reason = (await read(request, OpenOrder)).reason
        context_of(request.scope).event = "message.opened"
        wanted = Opening(asker, message_id, reason)
        try:
            content = await context.ledger.run(
                open_message, context.keyring, wanted, now_of(context)
            )
        except CannotOpen:
            raise NotFound("Nobody can read this message any more.") from None
        number = mask(content.sender_number)
        return answer(OpenedMessage(str(message_id), number, content.message_body))

    return router


async def _story_of(context: Context, message_id: UUID, asker: Viewer) -> tuple[Story, str | None]:
    """Return the story, and the time that it is of, if that is long ago. Of what has not ended the
    ledger itself tells: beside what the queue says now, an old row would tell of a loss that there
    is not."""
    now, as_of = now_of(context), context.shown.as_of()
    if ended := await context.shown.run(ended_story, message_id, asker, now):
        return ended, as_of
    return await story_of(context.ledger, context.queues, message_id, asker, now), None


async def cross(
    context: Context, asker: Viewer, action: str, asked: Asked, details: dict[str, Any]
) -> None:
    await context.ledger.run(note_crossing, asker, action, asked, details, now_of(context))


def answer(document: Any, status: int = 200) -> Response:
    """Return an answer that is never kept by anybody on the way: it is for one person, and for
    now."""
    headers = {"cache-control": "no-store"}
    return Response(encode_json(document), status, headers, "application/json")


def now_of(context: Context) -> datetime:
    return from_ms(context.clock.now_ms()).replace(tzinfo=UTC)


def _name_sender(context: Context, asker: Viewer, wanted: SenderSearch) -> Sender:
    """Return the MACs of a number. They differ between domains, so that equal ones tell nothing
    across their walls."""
    number = number_in(wanted.number)
    domain = domain_within(asker, Asked(wanted.domain))
    if domain is None:
        raise Invalid(
            errors=[FieldError("/domain", "say in which domain the number is looked for")]
        )
    return Sender(_joined([mac for _, mac in context.keyring.number_hashes(domain, number)]))


def _joined(macs: Sequence[bytes]) -> str:
    return ",".join(mac.hex() for mac in macs)
