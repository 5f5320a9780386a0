"""The portal's calls about failed messages, for administrators: look, redrive, discard."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from gatepost.clock import iso
from gatepost.errors import FieldError, Invalid
from gatepost.ids import id_ms
from gatepost.service.requests import context_of
from gatepost.wire import shown
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.viewers import viewer_of
from main_server.messages.failed import service
from main_server.messages.failed.listing import count_by_reason
from main_server.messages.failed.repository import LASTING, Selection
from main_server.messages.reading.asking import asked_by, reason_in, span_of
from main_server.messages.reading.documents import page_document
from main_server.messages.reading.list_repository import Span
from main_server.messages.reading.scope import Asked, domain_within
from main_server.messages.reading.search import Query as Wanted
from main_server.messages.reading.search import search, with_numbers
from main_server.messages.reading.timeline import reason_in_words
from main_server.people.users.viewer import UserRole, Viewer

_NOBODYS = "\0"
"""A domain that there can't be: what is asked of another's is answered as what isn't there."""


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/failed")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)

    @router.get("")
    async def count(
        first: Annotated[datetime | None, Query(alias="from")] = None,
        end: Annotated[datetime | None, Query(alias="to")] = None,
        client: str | None = None,
        domain: str | None = None,
        asker: Viewer = viewer,
    ) -> Response:
        asked = asked_by(asker, domain, client)
        await cross(context, asker, "failed.counted", asked, {})
        wanted = Wanted(span_of(first, end, now_of(context)), asked, "failed")
        found = await context.ledger.run(count_by_reason, asker, wanted)
        since = iso(id_ms(UUID(bytes=found.since))) if found.since else None
        return answer(shown.FailedReasons([_counted(*one) for one in found.reasons], since))

    @router.get("/messages")
    async def list_messages(
        reason: str | None = None,
        first: Annotated[datetime | None, Query(alias="from")] = None,
        end: Annotated[datetime | None, Query(alias="to")] = None,
        client: str | None = None,
        domain: str | None = None,
        before: str | None = None,
        asker: Viewer = viewer,
    ) -> Response:
        asked, why = asked_by(asker, domain, client), reason_in(reason)
        await cross(context, asker, "failed.listed", asked, {"reason": why})
        span = span_of(first, end, now_of(context), before)
        wanted = Wanted(span, asked, "failed", reason=why)
        found = await context.ledger.run(search, asker, wanted)
        page = await context.ledger.run(with_numbers, context.keyring, found)
        return answer(page_document(page))

    @router.post("/redrive")
    async def redrive_these(request: Request, asker: Viewer = viewer) -> Response:
        wanted = _ids((await read(request, shown.RedriveThese)).message_ids)
        done = await context.ledger.run(service.redrive_these, asker, wanted, now_of(context))
        return _changed(request, "message.redriven", done)

    @router.post("/discard")
    async def discard_these(request: Request, asker: Viewer = viewer) -> Response:
        """Discard messages for good: what is discarded is never delivered, and nothing takes it
        back."""
        asker.check_proved()
        wanted = await read(request, shown.DiscardThese)
        work = partial(service.discard_these, ids=_ids(wanted.message_ids), reason=wanted.reason)
        done = await context.ledger.run(work, viewer=asker, now=now_of(context))
        return _changed(request, "message.discarded", done)

    return router


def selection_of(asker: Viewer, asked: Asked, span: Span, reason: str | None = None) -> Selection:
    domain = domain_within(asker, asked)
    foreign = domain is not None and asked.domain not in (None, domain)
    return Selection(span.first, span.end, _NOBODYS if foreign else domain, asked.client_id, reason)


def _ids(texts: Sequence[str]) -> list[UUID]:
    try:
        return [UUID(text) for text in texts]
    except ValueError:
        raise Invalid(errors=[FieldError("/message_ids", "holds what is no id")]) from None


def _changed(request: Request, event: str, done: Sequence[UUID]) -> Response:
    context_of(request.scope).event = event
    context_of(request.scope).fields["messages"] = len(done)
    return answer(shown.MessageIds([str(one) for one in done]))


def _counted(reason: str | None, count: int) -> shown.FailedReason:
    return shown.FailedReason(reason, reason_in_words(reason), count, reason not in LASTING)
