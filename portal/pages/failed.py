"""Failed messages, for administrators: by reason; redriving some or all that match; discarding."""

from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid, NotFound
from gatepost.shown import (
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
"""A field for each message that can be chosen: its name ends with the id."""


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/failed")
    signed_in = visitor(context)

    @router.get("")
    async def failed(
        request: Request, before: str = "", done: str = "", visit: Visit = signed_in
    ) -> Response:
        filters = filters_in(request.query_params)
        return await _page(context, request, visit, filters, before=before, done=done)

    @router.post("")
    async def change(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        filters = filters_in(fields)
        try:
            count = await _change(context, visit, fields)
        except Invalid as error:
            return await _page(context, request, visit, filters, error=error)
        verb = "discarded" if fields.get("do") == "discard" else "redriven"
        return RedirectResponse(filters.address("/failed", done=f"{verb}-{count}"), 303)

    @router.post("/redrives")
    async def redrive(request: Request, visit: Visit = signed_in) -> Response:
        """Without a rate it is the dry run, whose page asks for one."""
        fields = await forms.read(request)
        filters, rate = filters_in(fields), fields.get("rate")
        try:
            order = _order(filters.asked(visit.zone), rate, fields.get("until"))
            found = await context.main_server.post("/failed/redrives", visit.token, order, Redrive)
        except (Invalid, NotFound) as error:
            return await _page(context, request, visit, filters, error=error)
        if rate is None:
            return context.pages.make(request, "redrive.html", visit, filters=filters, found=found)
        return RedirectResponse("/failed?done=started#redrives", 303)

    @router.post("/redrives/{redrive_id}/stop")
    async def stop(request: Request, redrive_id: UUID, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        path = f"/failed/redrives/{redrive_id}/stop"
        await context.main_server.post(path, visit.token, None, Redrive)
        return RedirectResponse("/failed?done=stopped#redrives", 303)

    return router


async def _change(context: Context, visit: Visit, fields: dict[str, str]) -> int:
    chosen = [name.removeprefix(_CHOSEN) for name in fields if name.startswith(_CHOSEN)]
    if not chosen:
        raise Invalid("Choose one message at least.")
    order: DiscardThese | RedriveThese = RedriveThese(chosen)
    path = "/failed/redrive"
    if fields.get("do") == "discard":
        order, path = DiscardThese(chosen, fields.get("why", "")), "/failed/discard"
    done = await context.main_server.post(path, visit.token, order, MessageIds)
    return len(done.message_ids)


def _order(asked: dict[str, str], rate: str | None, until: str | None) -> RedriveOrder:
    """`until` is when they were counted: what came after that was not meant."""
    if rate is not None and not (rate.isascii() and rate.isdigit() and len(rate) < 5):
        raise Invalid("The rate is a number of messages a second.")
    ends = [end for end in (asked.get("to"), until) if end]
    return RedriveOrder(
        reason=asked.get("reason"),
        client=asked.get("client"),
        domain=asked.get("domain"),
        first=asked.get("from"),
        end=min(ends, default=None),
        rate_per_second=int(rate or 10),
        dry_run=rate is None,
    )


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    filters: Filters,
    *,
    before: str = "",
    done: str = "",
    error: GatepostError | None = None,
) -> Response:
    main_server, token = context.main_server, visit.token
    asked = {} if error else filters.asked(visit.zone)
    within = {name: asked[name] for name in ("from", "to", "client", "domain") if name in asked}
    listed = within | {name: asked[name] for name in ("reason",) if name in asked}
    if before:
        listed["before"] = before
    reasons = await main_server.get("/failed", token, FailedReasons, **within)
    page = await main_server.get("/failed/messages", token, MessagePage, **listed)
    redrives = await main_server.get("/failed/redrives", token, Redrives)
    return context.pages.make(
        request,
        "failed.html",
        visit,
        filters=filters,
        reasons=reasons,
        page=page,
        redrives=redrives.redrives,
        done=done,
        error=error,
    )
