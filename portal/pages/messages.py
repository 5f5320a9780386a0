"""The messages that a person may see, newest first; and one of them, with its story.

A body that was opened is in that one answer and nowhere else: not in an address, and nobody keeps
the page.
"""

from dataclasses import replace
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import FieldError, GatepostError, Invalid
from gatepost.wire.shown import Message, MessagePage, OpenedMessage, OpenOrder, Sender, SenderSearch
from portal import forms
from portal.context import Context
from portal.filters import Filters, filters_in
from portal.visits import Visit, visitor

STATUSES = ("queued", "delivered", "failed", "duplicate", "erased")
_CHOICES = [("", "any"), *((one, one) for one in STATUSES)]
_NOTHING = MessagePage([], None, None)


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)

    @router.get("/messages")
    async def messages(request: Request, visit: Visit = signed_in) -> Response:
        filters = filters_in(request.query_params)
        before = request.query_params.get("before", "")
        try:
            page = await _list(context, visit, filters, before)
        except Invalid as error:
            return _list_page(context, request, visit, filters, _NOTHING, error)
        return _list_page(context, request, visit, filters, page)

    @router.post("/messages")
    async def find(request: Request, visit: Visit = signed_in) -> Response:
        return await _find(context, request, visit, await forms.read(request))

    @router.get("/messages/{message_id}")
    async def message(request: Request, message_id: UUID, visit: Visit = signed_in) -> Response:
        return await _message_page(context, request, visit, message_id)

    @router.post("/messages/{message_id}/open")
    async def open_message(
        request: Request, message_id: UUID, visit: Visit = signed_in
    ) -> Response:
        order = OpenOrder((await forms.read(request)).get("reason", ""))
        path = f"/messages/{message_id}/open"
        try:
            opened = await context.main_server.post(path, visit.token, order, OpenedMessage)
        except Invalid as error:
            return await _message_page(context, request, visit, message_id, error=error)
        return await _message_page(context, request, visit, message_id, opened=opened)

    return router


async def _find(
    context: Context, request: Request, visit: Visit, fields: dict[str, str]
) -> Response:
    """Turn what was typed into an address, in which there is no number."""
    filters = filters_in(fields)
    try:
        if wanted := fields.get("message_id", "").strip():
            return RedirectResponse(f"/messages/{_checked(wanted)}", 303)
        filters = await _with_number(context, visit, filters, fields.get("number", ""))
    except Invalid as error:
        return _list_page(context, request, visit, filters, _NOTHING, error)
    return RedirectResponse(filters.address("/messages"), 303)


async def _list(context: Context, visit: Visit, filters: Filters, before: str) -> MessagePage:
    asked = filters.without("reason").asked(visit.zone)
    if before:
        asked["before"] = before
    return await context.main_server.get("/messages", visit.token, MessagePage, **asked)


async def _with_number(context: Context, visit: Visit, filters: Filters, number: str) -> Filters:
    filters.asked(visit.zone)
    if not number.strip():
        return filters
    wanted = SenderSearch(number, filters.domain.strip() or None)
    named = await context.main_server.post("/messages/sender", visit.token, wanted, Sender)
    return replace(filters, sender=named.sender)


def _list_page(
    context: Context,
    request: Request,
    visit: Visit,
    filters: Filters,
    page: MessagePage,
    error: GatepostError | None = None,
) -> Response:
    return context.pages.make(
        request,
        "messages.html",
        visit,
        filters=filters,
        page=page,
        statuses=_CHOICES,
        error=error,
    )


async def _message_page(
    context: Context, request: Request, visit: Visit, message_id: UUID, **outcome: Any
) -> Response:
    path = f"/messages/{message_id}"
    shown = await context.main_server.get(path, visit.token, Message)
    error: GatepostError | None = outcome.get("error")
    return context.pages.make(
        request,
        "message.html",
        visit,
        message=shown,
        opened=outcome.get("opened"),
        error=error,
    )


def _checked(message_id: str) -> UUID:
    try:
        return UUID(message_id)
    except ValueError:
        words = "is 32 hex digits, with or without the strokes between them"
        raise Invalid(errors=[FieldError("/message_id", words)]) from None
