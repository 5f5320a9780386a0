"""The portal's calls about redrives, for administrators: dry run, start, look, stop."""

from datetime import datetime
from functools import partial
from uuid import UUID

from fastapi import APIRouter, Request, Response

from gatepost.ids import MessageIds
from gatepost.service.requests import context_of
from gatepost.wire import shown
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.failed import selection_of
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.viewers import viewer_of
from main_server.messages.failed import service
from main_server.messages.failed.repository import Redrive, list_redrives
from main_server.messages.failed.service import Order
from main_server.messages.reading.asking import asked_by, instant, reason_in, span_of
from main_server.messages.reading.documents import time, time_or_none
from main_server.messages.reading.scope import Asked, domain_within
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact

SHOWN = 50


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/failed/redrives")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)

    @router.get("")
    async def redrives(asker: Viewer = viewer) -> Response:
        await cross(context, asker, "redrives.listed", Asked(), {})
        list_all = partial(list_redrives, domain=domain_within(asker, Asked()), limit=SHOWN)
        found = await context.ledger.run(transact, list_all)
        return answer(shown.Redrives([_redrive(one) for one in found]))

    @router.post("")
    async def redrive(request: Request, asker: Viewer = viewer) -> Response:
        wanted = await read(request, shown.RedriveOrder)
        order = _order(asker, wanted, now_of(context))
        if wanted.dry_run:
            meant = Asked(order.selection.domain, order.selection.client_id)
            await cross(context, asker, "redrive.counted", meant, {"reason": wanted.reason})
            expected = await context.ledger.run(service.count, order.selection)
            return answer(_dry(asker, order, expected, now_of(context)))
        new, now = MessageIds(context.clock).new(), now_of(context)
        started = await context.ledger.run(service.start, asker.actor, order, new, now)
        context_of(request.scope).event = "redrive.started"
        return answer(_redrive(started))

    @router.post("/{redrive_id}/stop")
    async def stop(redrive_id: UUID, request: Request, asker: Viewer = viewer) -> Response:
        within, now = domain_within(asker, Asked()), now_of(context)
        stopped = await context.ledger.run(service.stop, asker.actor, within, redrive_id, now)
        context_of(request.scope).event = "redrive.stopped"
        return answer(_redrive(stopped))

    return router


def _order(asker: Viewer, wanted: shown.RedriveOrder, now: datetime) -> Order:
    span = span_of(instant(wanted.first, "/first"), instant(wanted.end, "/end"), now)
    asked = asked_by(asker, wanted.domain, wanted.client)
    return Order(selection_of(asker, asked, span, reason_in(wanted.reason)), wanted.rate_per_second)


def _redrive(redrive: Redrive) -> shown.Redrive:
    return shown.Redrive(
        redrive_id=str(UUID(bytes=redrive.redrive_id)),
        domain=redrive.domain,
        client_id=redrive.client_id,
        reason=redrive.reason,
        rate_per_second=redrive.rate_per_second,
        expected=redrive.expected,
        redriven=redrive.redriven,
        state=redrive.state,
        actor=redrive.actor,
        created_at=time(redrive.created_at),
        ended_at=time_or_none(redrive.ended_at),
    )


def _dry(asker: Viewer, order: Order, expected: int, now: datetime) -> shown.Redrive:
    selection = order.selection
    return shown.Redrive(
        redrive_id=None,
        domain=domain_within(asker, Asked(selection.domain)),
        client_id=selection.client_id,
        reason=selection.reason,
        rate_per_second=order.rate_per_second,
        expected=expected,
        redriven=0,
        state=None,
        actor=asker.actor,
        created_at=time(now),
        ended_at=None,
    )
