"""Domains: a super-administrator adds, changes, disables and enables them; an administrator looks
at their own. The effect of a change is said beside its button."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import FieldError, GatepostError, Invalid, NameTaken, NotFound
from gatepost.wire.domains import Disabling, Domain, Domains, DomainSettings, NewDomain
from gatepost.wire.retention import Kept
from gatepost.zones import zone_names
from portal import forms
from portal.context import Context
from portal.visits import Visit, visitor

DONE = {
    "created": "The domain is there. Its clients can be added now.",
    "changed": "It is changed. Proxies hear of it within a second or two.",
    "disabled": "The domain is disabled. Its clients are refused within a second or two.",
    "enabled": "The domain takes part again. Its people sign in anew.",
}
"""The words when something was done."""

_OF_DOMAINS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")
_NEW = {"domain": "", "queue_prefix": "", "max_undelivered": "1000000", "retention_days": ""}
_NEW |= {"time_zone": ""}


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/domains")
    signed_in = visitor(context)

    @router.get("")
    async def domains(request: Request, visit: Visit = signed_in) -> Response:
        return await _list_page(context, request, visit)

    @router.post("")
    async def add(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        name = fields.get("domain", "").strip().lower()
        try:
            wanted = NewDomain(domain=name, **_settings(fields))
            made = await context.main_server.post("/domains", visit.token, wanted, Domain)
        except (Invalid, NameTaken) as error:
            return await _list_page(context, request, visit, error=error, typed=fields)
        return RedirectResponse(f"/domains/{made.domain}?done=created", 303)

    @router.get("/{domain}")
    async def domain(
        request: Request, domain: str, done: str = "", visit: Visit = signed_in
    ) -> Response:
        return await _page(context, request, visit, domain, done=DONE.get(done))

    @router.post("/{domain}")
    async def change(request: Request, domain: str, visit: Visit = signed_in) -> Response:
        return await _change(context, request, visit, domain, await forms.read(request))

    @router.post("/{domain}/disable")
    async def disable(request: Request, domain: str, visit: Visit = signed_in) -> Response:
        return await _disable(context, request, visit, domain, await forms.read(request))

    @router.post("/{domain}/enable")
    async def enable(request: Request, domain: str, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        await context.main_server.post(_path(domain, "/enable"), visit.token, None, Domain)
        return RedirectResponse(f"/domains/{domain}?done=enabled", 303)

    return router


async def _change(
    context: Context, request: Request, visit: Visit, domain: str, fields: dict[str, str]
) -> Response:
    try:
        wanted = DomainSettings(**_settings(fields))
        await context.main_server.post(_path(domain), visit.token, wanted, Domain)
    except Invalid as error:
        return await _page(context, request, visit, domain, error=error, typed=fields)
    return RedirectResponse(f"/domains/{domain}?done=changed", 303)


async def _disable(
    context: Context, request: Request, visit: Visit, domain: str, fields: dict[str, str]
) -> Response:
    said = Disabling(fields.get("reason", ""))
    try:
        await context.main_server.post(_path(domain, "/disable"), visit.token, said, Domain)
    except Invalid as error:
        return await _page(context, request, visit, domain, error=error)
    return RedirectResponse(f"/domains/{domain}?done=disabled", 303)


def _path(domain: str, act: str = "") -> str:
    """Return the domain's path at the main server. What was typed into an address is not taken for
    more."""
    if not domain.isascii() or not set(domain) <= _OF_DOMAINS:
        raise NotFound("There is no such domain.")
    return f"/domains/{domain}{act}"


def _settings(fields: dict[str, str]) -> dict[str, Any]:
    most, days = (fields.get(name, "").strip() for name in ("max_undelivered", "retention_days"))
    prefix = fields.get("queue_prefix", "").strip()
    return {
        "queue_prefix": prefix or None,
        "max_undelivered": _number(most, "/max_undelivered"),
        "retention_days": _number(days, "/retention_days") if days else None,
        "time_zone": fields.get("time_zone") or None,
    }


def _number(text: str, pointer: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Invalid(errors=[FieldError(pointer, "is a number")])
    return int(text)


async def _list_page(
    context: Context,
    request: Request,
    visit: Visit,
    *,
    error: GatepostError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    found = await context.main_server.get("/domains", visit.token, Domains)
    return context.pages.make(
        request,
        "domains.html",
        visit,
        domains=found.domains,
        zones=zone_names(),
        typed=_NEW | (typed or {}),
        error=error,
    )


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    name: str,
    *,
    done: str | None = None,
    error: GatepostError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    found = await context.main_server.get(_path(name), visit.token, Domain)
    kept = await context.main_server.get(f"/retention{_path(name)}", visit.token, Kept)
    now = {
        "queue_prefix": found.queue_prefix or "",
        "max_undelivered": str(found.max_undelivered),
        "retention_days": "" if found.retention_is_usual else str(found.retention_days),
        "time_zone": found.time_zone or "",
    }
    return context.pages.make(
        request,
        "domain.html",
        visit,
        domain=found,
        zones=zone_names(),
        kept=kept,
        typed=now | (typed or {}),
        done=done,
        error=error,
    )
