"""The portal's call for reports, for an administrator: of their domain, or one client of it.

A super-administrator sees those of each domain and of all together, and the audit log has it.
"""

from datetime import date, timedelta
from functools import partial
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Response

from gatepost.errors import FieldError, Invalid
from gatepost.insight.repository import Asked as AskedReports
from gatepost.insight.shapes import Reports
from gatepost.insight.view import DAY, read_reports
from main_server.api.context import Context
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.viewers import viewer_of
from main_server.messages.reading.asking import FIRST, asked_by
from main_server.messages.reading.scope import Asked, domain_within
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact

USUAL_DAYS, MOST_DAYS = 30, 366
NOBODYS = "\0"
"""A domain that there can't be: what is asked of another's is answered as what isn't there."""


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/reports")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)

    @router.get("")
    async def show(
        first: Annotated[date | None, Query(alias="from")] = None,
        last: Annotated[date | None, Query(alias="to")] = None,
        domain: str | None = None,
        client: str | None = None,
        asker: Viewer = viewer,
    ) -> Response:
        """Show the reports of some days, the first and the last among them; without dates, of the
        30 days up to yesterday."""
        asked = asked_by(asker, domain, client)
        span = days_of(first, last, now_of(context).date() - DAY)
        details = {"from": str(span[0]), "to": str(span[1])}
        await cross(context, asker, "reports.seen", asked, details)
        wanted = wanted_by(asker, asked, span)
        as_of = context.shown.as_of()
        found = await context.shown.run(transact, partial(read_reports, asked=wanted))
        found = msgspec.structs.replace(found, as_of=as_of)
        return answer(found if asker.role is UserRole.SUPER_ADMIN else for_domain(asker, found))

    return router


def days_of(first: date | None, last: date | None, yesterday: date) -> tuple[date, date]:
    """Return the first and the last day, never after yesterday: of today there is no report."""
    for pointer, day in (("/from", first), ("/to", last)):
        if day is not None and day < FIRST.date():
            raise Invalid(errors=[FieldError(pointer, f"is before {FIRST.date()}")])
    end = min(last or yesterday, yesterday)
    begin = first or end - timedelta(days=USUAL_DAYS - 1)
    if begin > end:
        raise Invalid(errors=[FieldError("/from", "must not be after the last day asked for")])
    if (end - begin).days >= MOST_DAYS:
        words = f"is more than {MOST_DAYS} days before the last day asked for"
        raise Invalid(errors=[FieldError("/from", words)])
    return begin, end


def wanted_by(asker: Viewer, asked: Asked, span: tuple[date, date]) -> AskedReports:
    """Return what is asked for, within what the asker may see. A client belongs to one domain: of
    another one it has nothing."""
    own = domain_within(asker, asked)
    if own is None and asked.client_id:
        own = asked.client_id.partition(":")[0]
    foreign = asked.domain not in (None, own)
    return AskedReports(*span, NOBODYS if foreign else own, asked.client_id)


def for_domain(asker: Viewer, found: Reports) -> Reports:
    """Return the reports without what tells of others: how much the last run had to do, and whom
    they asked for."""
    run = found.last_run
    quiet = msgspec.structs.replace(run, messages=None, late_changes=None) if run else None
    return msgspec.structs.replace(found, domain=asker.domain, client=None, last_run=quiet)
