"""The portal's calls about the audit log, for administrators: to look through it, to check it.

An administrator sees the entries of their own domain (I12); that a super-administrator has looked
is an entry of its own. The chain is everybody's, so only a super-administrator checks it.
"""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response

from gatepost.wire.audited import AuditChecks
from main_server.api.context import Context
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.viewers import viewer_of
from main_server.audit import checking
from main_server.audit.asking import filters_of, place_in, times_of
from main_server.audit.documents import EMPTY, check_document, page_document
from main_server.audit.search import Query as Wanted
from main_server.audit.search import search
from main_server.messages.reading.asking import asked_by
from main_server.messages.reading.scope import domain_within
from main_server.people.users.viewer import UserRole, Viewer


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/audit")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)
    of_all = viewer_of(context, UserRole.SUPER_ADMIN)

    @router.get("")
    async def list_entries(
        first: Annotated[datetime | None, Query(alias="from")] = None,
        end: Annotated[datetime | None, Query(alias="to")] = None,
        actor: str | None = None,
        action: str | None = None,
        subject: str | None = None,
        domain: str | None = None,
        before: str | None = None,
        asker: Viewer = viewer,
    ) -> Response:
        asked = asked_by(asker, domain, None)
        filters, own = filters_of(actor, action, subject), domain_within(asker, asked)
        wanted = Wanted(own, filters, times_of(first, end), place_in(before))
        details = {"actor": filters.actor, "action": filters.action, "subject": filters.subject}
        await cross(context, asker, "audit.listed", asked, details | {"page": before or "first"})
        if asked.domain not in (None, own):
            return answer(page_document(EMPTY, numbered=False))
        page = await context.ledger.run(search, wanted)
        return answer(page_document(page, numbered=asker.role is UserRole.SUPER_ADMIN))

    @router.get("/check")
    async def show_check(_asker: Viewer = of_all) -> Response:
        check = await context.ledger.run(checking.latest)
        return answer(AuditChecks(check_document(check) if check else None))

    @router.post("/check")
    async def start_check(asker: Viewer = of_all) -> Response:
        check = await context.ledger.run(checking.start, asker.actor, now_of(context))
        return answer(AuditChecks(check_document(check)))

    return router
