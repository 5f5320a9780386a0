"""Revoke: show a page that says what would be taken, and only then do it. Hold and release.

What is revoked is out when the page says so (I8): the main server tells the edge before it answers.
"""

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from msgspec.structs import replace

from gatepost.errors import Invalid, NotFound
from gatepost.trust.identity import Role
from gatepost.trust.revocation import Reason
from gatepost.wire.holders import Changed, Client, Target
from portal import forms
from portal.context import Context
from portal.pages.certificates import checked, find
from portal.pages.clients import checked as checked_client
from portal.visits import Visit, visitor

REASONS = {
    Reason.UNSPECIFIED: "no reason given",
    Reason.KEY_COMPROMISE: "its key has become known, or may have",
    Reason.SUPERSEDED: "another one has taken its place",
    Reason.CESSATION_OF_OPERATION: "it is not used any more",
    Reason.AFFILIATION_CHANGED: "its holder is another one now",
    Reason.PRIVILEGE_WITHDRAWN: "its holder may not do this any more",
}
"""The reasons of RFC 5280 that a person can mean. A hold is a thing of its own, and a CA's key
isn't lost on this page."""


@dataclass(frozen=True, slots=True)
class Whose:
    """The subject of a revocation: the target, what it is called, its page, and where its forms
    are."""

    target: Target
    called: str
    page: str


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)

    @router.post("/certificates/{serial}/revoke")
    async def revoke_one(request: Request, serial: str, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        found = await find(context, visit, serial)
        whose = Whose(Target(serial=serial), found.identity, f"/certificates/{serial}")
        return await _revoke(context, request, visit, whose, fields)

    @router.post("/clients/{client_id}/revoke")
    async def revoke_all(request: Request, client_id: str, visit: Visit = signed_in) -> Response:
        """Revoke all that a client has, and the tokens that it could enrol with."""
        fields, page = await forms.read(request), f"/clients/{checked_client(client_id)}"
        found = await context.main_server.get(page, visit.token, Client)
        target = Target(client_id=found.client_id, role=Role.CLIENT)
        return await _revoke(context, request, visit, Whose(target, found.client_id, page), fields)

    @router.post("/certificates/{serial}/hold")
    async def hold(request: Request, serial: str, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        return await _change(context, visit, serial, "hold", "held")

    @router.post("/certificates/{serial}/release")
    async def release(request: Request, serial: str, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        return await _change(context, visit, serial, "release", "released")

    return router


async def _revoke(
    context: Context, request: Request, visit: Visit, whose: Whose, fields: dict[str, str]
) -> Response:
    """Revoke it. Unless that is confirmed it is the dry run, whose page asks for that and for the
    reason."""
    error, confirmed = None, "confirmed" in fields
    if confirmed:
        try:
            done = await _ask(context, visit, whose.target, _reason(fields), dry_run=False)
            return RedirectResponse(f"{whose.page}?done={_said('revoked', done)}", 303)
        except Invalid as refused:
            error = refused
    try:
        found = await _ask(context, visit, whose.target, Reason.UNSPECIFIED, dry_run=True)
        serials, tokens = found.serials, found.tokens_withdrawn
    except NotFound:  # a client that has nothing
        serials, tokens = [], 0
    return context.pages.make(
        request,
        "revoke.html",
        visit,
        called=whose.called,
        page=whose.page,
        serials=serials,
        tokens=tokens,
        reasons={reason.value: words for reason, words in REASONS.items()},
        error=error,
    )


def _reason(fields: dict[str, str]) -> Reason:
    reason = next((one for one in REASONS if one.value == fields.get("reason")), None)
    if reason is None:
        raise Invalid("Choose a reason.")
    return reason


async def _ask(
    context: Context, visit: Visit, target: Target, reason: Reason, *, dry_run: bool
) -> Changed:
    order = replace(target, reason=reason, dry_run=dry_run)
    return await context.main_server.post("/certificates/revoke", visit.token, order, Changed)


async def _change(context: Context, visit: Visit, serial: str, act: str, verb: str) -> Response:
    path, target = f"/certificates/{act}", Target(serial=checked(serial))
    done = await context.main_server.post(path, visit.token, target, Changed)
    return RedirectResponse(f"/certificates/{serial}?done={_said(verb, done)}", 303)


def _said(verb: str, done: Changed) -> str:
    return verb if done.redis_told else f"{verb}-untold"
