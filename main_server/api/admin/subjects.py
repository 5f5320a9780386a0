"""Calls of administrators' programs about data subjects; nobody who has signed in at the portal may
ask."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from gatepost.clock import iso, to_ms
from gatepost.service.requests import context_of
from gatepost.wire.content import Content
from gatepost.wire.subjects import (
    SubjectMessage,
    SubjectOrder,
    SubjectPage,
    SubjectReport,
    SubjectReports,
)
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import (
    NUMBERS_A_SECOND,
    NUMBERS_AT_ONCE,
    TOO_MANY_NUMBERS,
    answer,
    now_of,
)
from main_server.buckets import Buckets
from main_server.messages.reading.asking import number_in
from main_server.messages.subjects import service
from main_server.messages.subjects.repository import Report, Row
from main_server.people.administrator import Administrator


def create_router(context: Context, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says who asks."""
    router = APIRouter(prefix="/admin/subjects")
    searches = Buckets(NUMBERS_A_SECOND, NUMBERS_AT_ONCE, TOO_MANY_NUMBERS)

    @router.post("")
    async def ask(request: Request, asker: Administrator = admin) -> Response:
        number = number_in((await read(request, SubjectOrder)).number)
        searches.take(asker.actor)
        now = now_of(context)
        asked = await context.ledger.run(service.ask, context.keyring, number, asker, now)
        return _told(request, "subject.asked", asked, 201)

    @router.get("")
    async def list_open(asker: Administrator = admin) -> Response:
        found = await context.ledger.run(service.list_open, asker, now_of(context))
        return answer(SubjectReports([_report(one) for one in found]))

    @router.post("/{report_id}/approve")
    async def approve(report_id: UUID, request: Request, asker: Administrator = admin) -> Response:
        now = now_of(context)
        approved = await context.ledger.run(service.approve, report_id, asker, now)
        return _told(request, "subject.approved", approved)

    @router.get("/{report_id}/messages")
    async def fetch(
        report_id: UUID, request: Request, after: UUID | None = None, asker: Administrator = admin
    ) -> Response:
        context_of(request.scope).event = "subject.reported"
        wanted = (report_id, asker, after, now_of(context))
        page = await context.ledger.run(service.fetch, context.keyring, *wanted)
        following = str(UUID(bytes=page.after)) if page.after else None
        found = [_message(row, content) for row, content in page.messages]
        return answer(SubjectPage(_report(page.report), found, following))

    return router


def _told(request: Request, event: str, report: Report, status: int = 200) -> Response:
    context_of(request.scope).event = event
    context_of(request.scope).fields["report_id"] = str(UUID(bytes=report.report_id))
    return answer(_report(report), status)


def _report(report: Report) -> SubjectReport:
    return SubjectReport(
        report_id=str(UUID(bytes=report.report_id)),
        asked_by=report.asked_by,
        asked_at=iso(to_ms(report.asked_at)),
        expires_at=iso(to_ms(report.expires_at)),
        approved_by=report.approved_by,
        messages=sum(report.counts.values()),
        domains=dict(report.counts),
    )


def _message(row: Row, content: Content | None) -> SubjectMessage:
    return SubjectMessage(
        message_id=str(UUID(bytes=row.message_id)),
        client_id=row.client_id,
        domain=row.domain,
        status=row.status,
        reason=row.reason,
        created_at=iso(to_ms(row.created_at)),
        delivered_at=iso(to_ms(row.delivered_at)) if row.delivered_at else None,
        attempt_count=row.attempt_count,
        readable=content is not None,
        sender_number=content.sender_number if content else None,
        message_body=content.message_body if content else None,
    )
