"""Reports, for administrators: of a range of days, a month, a year; of a domain or a client of it.

Days are UTC's here, as they are in the reports: a day in another zone is parts of two of them.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from fastapi import APIRouter, Request, Response

from gatepost.errors import Invalid
from gatepost.insight.rendering import shown
from gatepost.insight.shapes import Reports
from portal.context import Context
from portal.filters import Filters, filters_in
from portal.visits import Visit, visitor

PAGE = "/reports"
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Spans:
    """The addresses of what can be looked at beside what is shown: the same, at other times."""

    days: str
    year: str
    month: str
    """The month of the last day shown, all of it."""
    month_before: str
    month_after: str | None


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix=PAGE)
    signed_in = visitor(context)

    @router.get("")
    async def reports(request: Request, visit: Visit = signed_in) -> Response:
        filters, refused = filters_in(request.query_params), None
        try:
            found = await _ask(context, visit, filters)
        except Invalid as error:
            found, refused = await _ask(context, visit, Filters()), error
        spans = _spans(filters, date.fromisoformat(found.last), context.keys.now().date())
        return context.pages.make(
            request,
            "reports.html",
            visit,
            filters=filters,
            spans=spans,
            link=partial(_address, filters, found.grouped_by),
            error=refused,
            **shown(found),
        )

    return router


async def _ask(context: Context, visit: Visit, filters: Filters) -> Reports:
    """Ask for the reports. Names are checked here, since a number may have been typed: none is to
    get into a log."""
    named = Filters(client=filters.client, domain=filters.domain).asked(visit.zone)
    days = {"from": _day(filters.first), "to": _day(filters.last)}
    asked = {name: value for name, value in (named | days).items() if value}
    return await context.main_server.get("/reports", visit.token, Reports, **asked)


def _day(text: str) -> str:
    try:
        return str(date.fromisoformat(text)) if text else ""
    except ValueError:
        raise Invalid("A day is written as 2026-11-18.") from None


def _address(filters: Filters, kind: str, name: str) -> str:
    return filters.address(PAGE, **{kind: name})


def _spans(filters: Filters, last: date, today: date) -> Spans:
    yesterday = today - DAY

    def of(first: date, end: date) -> str:
        return filters.address(PAGE, first=str(first), last=str(end))

    begin = last.replace(day=1)
    before, after = (begin - DAY).replace(day=1), (begin + DAY * 32).replace(day=1)
    return Spans(
        days=filters.address(PAGE, first=None, last=None),
        year=of(yesterday - DAY * 364, yesterday),
        month=of(begin, after - DAY),
        month_before=of(before, begin - DAY),
        month_after=of(after, _end_of(after)) if after <= yesterday else None,
    )


def _end_of(begin: date) -> date:
    return (begin + DAY * 32).replace(day=1) - DAY
