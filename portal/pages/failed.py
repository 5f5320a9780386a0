"""Failed messages, for administrators: by reason; redriving some or all that match; discarding."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from msgspec.structs import replace

from gatepost.errors import FieldError, GatepostError, Invalid, NotFound
from gatepost.wire.shown import (
    DiscardThese,
    FailedReasons,
    MessageIds,
    MessagePage,
    Redrive,
    RedriveOrder,
    Redrives,
    RedriveThese,
)
from portal import forms
from portal.context import Context
from portal.filters import Filters, filters_in
from portal.visits import Visit, visitor

_CHOSEN = "message-"
"""The beginning of the name of a field for each message that can be chosen; the id is the rest."""
_DONE = {
    "started": "It is under way, and goes on without this page.",
    "stopped": "It is stopped. What it has redriven already is not undone.",
    "redriven-0": "None of them was redriven: they are not failed any more, or were discarded.",
    "discarded-0": "None of them was discarded: they are not failed any more, or were already.",
}
_DONE_TO_SOME = {
    "redriven": "Redriven: {}. They are delivered within seconds.",
    "discarded": "Discarded: {}. They stay here, and out of every redrive.",
}
_COUNT = re.compile(r"\A[1-9][0-9]{0,2}\Z")
_NO_REASONS, _NO_PAGE = FailedReasons([], None), MessagePage([], None, None)


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/failed")
    signed_in = visitor(context)

    @router.get("")
    async def failed(
        request: Request,
        before: str = "",
        done: str = "",
        choose: str = "",
        visit: Visit = signed_in,
    ) -> Response:
        shown = Shown(filters_in(request.query_params), before, done, choose=choose == "all")
        return await _page(context, request, visit, shown)

    @router.post("")
    async def change(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        filters, chosen = filters_in(fields), _chosen_in(fields)
        try:
            count = await _change(context, visit, fields, chosen)
        except Invalid as error:
            shown = Shown(filters, chosen=frozenset(chosen), why=fields.get("why", ""))
            return await _page(context, request, visit, shown, error)
        verb = "discarded" if fields.get("do") == "discard" else "redriven"
        return RedirectResponse(filters.address("/failed", done=f"{verb}-{count}"), 303)

    @router.post("/redrives")
    async def redrive(request: Request, visit: Visit = signed_in) -> Response:
        return await _redrive(context, request, visit, await forms.read(request))

    @router.post("/redrives/{redrive_id}/stop")
    async def stop(request: Request, redrive_id: UUID, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        path = f"/failed/redrives/{redrive_id}/stop"
        await context.main_server.post(path, visit.token, None, Redrive)
        return RedirectResponse("/failed?done=stopped#redrives", 303)

    return router


@dataclass(frozen=True, slots=True)
class Shown:
    """The choices that the page is to show, beside what the main server says: `chosen` are ids;
    `choose` is for all that come."""

    filters: Filters
    before: str = ""
    done: str = ""
    choose: bool = False
    chosen: Collection[str] = ()
    why: str = ""


def _chosen_in(fields: dict[str, str]) -> list[str]:
    return [name.removeprefix(_CHOSEN) for name in fields if name.startswith(_CHOSEN)]


async def _change(context: Context, visit: Visit, fields: dict[str, str], chosen: list[str]) -> int:
    if not chosen:
        raise Invalid("Choose one message at least.")
    order: DiscardThese | RedriveThese = RedriveThese(chosen)
    path = "/failed/redrive"
    if fields.get("do") == "discard":
        order, path = DiscardThese(chosen, fields.get("why", "")), "/failed/discard"
    done = await context.main_server.post(path, visit.token, order, MessageIds)
    return len(done.message_ids)


async def _redrive(
    context: Context, request: Request, visit: Visit, fields: dict[str, str]
) -> Response:
    """Start a redrive. Without a rate it is the dry run, whose page asks for one; and again where
    the rate is none."""
    filters, rate, error = filters_in(fields), fields.get("rate"), None
    try:
        order = _order(filters.asked(visit.zone), fields.get("until"))
        if rate is not None:
            error = await _start(context, visit, order, rate)
            if error is None:
                return RedirectResponse("/failed?done=started#redrives", 303)
        found = await _ask(context, visit, order)
    except (Invalid, NotFound) as refused:
        return await _page(context, request, visit, Shown(filters), refused)
    until = fields.get("until") or found.created_at
    return context.pages.make(
        request, "redrive.html", visit, filters=filters, found=found, until=until, error=error
    )


async def _start(context: Context, visit: Visit, order: RedriveOrder, rate: str) -> Invalid | None:
    """Start it; return what is wrong with the rate, or None if it is under way."""
    if not (rate.isascii() and rate.isdigit() and len(rate) < 5):
        return Invalid(errors=[FieldError("/rate_per_second", "is a whole number")])
    try:
        await _ask(context, visit, replace(order, rate_per_second=int(rate), dry_run=False))
    except Invalid as error:
        return error
    return None


async def _ask(context: Context, visit: Visit, order: RedriveOrder) -> Redrive:
    return await context.main_server.post("/failed/redrives", visit.token, order, Redrive)


def _order(asked: dict[str, str], until: str | None) -> RedriveOrder:
    """Return the order; `until` is when the messages were counted: what came after that was not
    meant."""
    ends = [end for end in (asked.get("to"), until) if end]
    return RedriveOrder(
        reason=asked.get("reason"),
        client=asked.get("client"),
        domain=asked.get("domain"),
        first=asked.get("from"),
        end=min(ends, default=None),
    )


def _said(done: str) -> str | None:
    """Return what was done, in words. Anything may stand in an address: the words are ours, and
    only a number comes from there."""
    verb, _, count = done.partition("-")
    if done in _DONE or verb not in _DONE_TO_SOME:
        return _DONE.get(done)
    return _DONE_TO_SOME[verb].format(count) if _COUNT.match(count) else None


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    shown: Shown,
    error: GatepostError | None = None,
) -> Response:
    main_server, token = context.main_server, visit.token
    redrives = await main_server.get("/failed/redrives", token, Redrives)
    reasons, page = _NO_REASONS, _NO_PAGE
    try:
        reasons, page = await _list(context, visit, shown)
    except Invalid as refused:
        error = error or refused
    return context.pages.make(
        request,
        "failed.html",
        visit,
        filters=shown.filters,
        before=shown.before,
        reasons=reasons,
        page=page,
        redrives=redrives.redrives,
        done=_said(shown.done),
        chosen={one.message_id for one in page.messages} if shown.choose else shown.chosen,
        why=shown.why,
        error=error,
    )


async def _list(context: Context, visit: Visit, shown: Shown) -> tuple[FailedReasons, MessagePage]:
    asked, main_server = shown.filters.asked(visit.zone), context.main_server
    within = {name: asked[name] for name in ("from", "to", "client", "domain") if name in asked}
    listed = within | {name: asked[name] for name in ("reason",) if name in asked}
    if shown.before:
        listed["before"] = shown.before
    reasons = await main_server.get("/failed", visit.token, FailedReasons, **within)
    page = await main_server.get("/failed/messages", visit.token, MessagePage, **listed)
    return reasons, page
