"""Clients, for administrators: who may send, and new ones."""

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import BadIdentity, FieldError, GatepostError, Invalid, NameTaken, NotFound
from gatepost.wire.holders import Client, ClientOrder, ClientPage
from gatepost.wire.people import UserRole
from portal import forms
from portal.context import Context
from portal.visits import Visit, visitor

MOST = 50
TYPED = {"domain": "", "client": "", "rate_per_second": "100", "burst": "1000"}
_CLIENT_ID = re.compile(r"\A[a-z0-9.-]{1,128}:[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class Asked:
    """The list's filters, as typed; `find` is the name of one client."""

    domain: str = ""
    after: str = ""
    find: str = ""


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/clients")
    signed_in = visitor(context)

    @router.get("")
    async def clients(
        request: Request,
        domain: str = "",
        after: str = "",
        find: str = "",
        visit: Visit = signed_in,
    ) -> Response:
        asked = Asked(domain.strip(), after, find.strip())
        try:
            if asked.find:
                return RedirectResponse(f"/clients/{checked(_whole(asked, visit))}", 303)
            return await _list(context, request, visit, asked)
        except (Invalid, NotFound) as error:
            return await _list(context, request, visit, asked, error=error)

    @router.post("")
    async def create(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        try:
            made = await context.main_server.post("/clients", visit.token, _order(fields), Client)
        except (Invalid, NameTaken, NotFound, BadIdentity) as error:
            return await _list(context, request, visit, Asked(), error=error, typed=fields)
        return RedirectResponse(f"/clients/{made.client_id}?done=created", 303)

    return router


def checked(client_id: str) -> str:
    """Return the client's id if it is one: it becomes part of a path, and nothing else may."""
    if not _CLIENT_ID.match(client_id):
        raise NotFound("There is no such client.")
    return client_id


def client_in(fields: dict[str, str]) -> str:
    """Return the client as typed: a name, with its domain beside it where there is a field for
    that."""
    name, domain = fields.get("client", "").strip(), fields.get("domain", "").strip()
    return f"{domain}:{name}" if domain and ":" not in name else name


def number(fields: dict[str, str], name: str) -> int:
    text = fields.get(name, "").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Invalid(errors=[FieldError(f"/{name}", "is a whole number")])
    return int(text)


def _whole(asked: Asked, visit: Visit) -> str:
    everybodys = visit.claims.role is UserRole.SUPER_ADMIN
    own = asked.domain if everybodys else visit.claims.domain
    return asked.find if ":" in asked.find else f"{own}:{asked.find}"


def _order(fields: dict[str, str]) -> ClientOrder:
    return ClientOrder(
        client_in(fields), number(fields, "rate_per_second"), number(fields, "burst")
    )


async def _list(
    context: Context,
    request: Request,
    visit: Visit,
    asked: Asked,
    *,
    error: GatepostError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    """Show the list; all of it, where what was asked for is refused."""
    meant = Asked() if error else asked
    whole = {"domain": meant.domain, "after": meant.after, "limit": str(MOST)}
    query = {name: value for name, value in whole.items() if value}
    page = await context.main_server.get("/clients", visit.token, ClientPage, **query)
    more = {"domain": meant.domain, "after": page.next or ""}
    return context.pages.make(
        request,
        "clients.html",
        visit,
        clients=page.clients,
        asked=asked,
        first=not meant.after,
        following=f"/clients?{urlencode(more)}" if page.next else None,
        error=error,
        typed=TYPED | (typed or {}),
    )
