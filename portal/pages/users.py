"""People, for administrators: who there is; adding, disabling, signing out, links for a password.

The page with a link is the answer to the form that made it: a secret is in no address, and whoever
loads the page again makes another.
"""

from dataclasses import asdict, dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid, NameTaken, NotFound
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN
from gatepost.wire.people import Accounts, NewPerson, PasswordLink, UserRole
from portal import forms
from portal.context import Context
from portal.visits import Visit, visitor

DONE = {
    "disable": "The account is disabled, and signed out everywhere.",
    "enable": "The account may sign in again.",
    "sign-out": "Every session of the account has ended.",
    "reset-second-step": "Their authenticator is forgotten, and they are signed out everywhere.",
    "rights": "It is changed, and counts at once.",
}
"""The acts on an account, and what is said when one is done."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The people that somebody looks for: a part of the name, and where the page before has
    ended."""

    name: str = ""
    after: str = ""

    def asked(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}

    def following(self, after: str | None) -> str | None:
        return f"/users?{urlencode(replace(self, after=after).asked())}" if after else None


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/users")
    signed_in = visitor(context)

    @router.get("")
    async def users(
        request: Request, name: str = "", after: str = "", done: str = "", visit: Visit = signed_in
    ) -> Response:
        looked = Looked(name.strip(), after)
        return await _page(context, request, visit, done=DONE.get(done), looked=looked)

    @router.post("")
    async def add(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        try:
            wanted = _wanted(fields)
            made = await context.main_server.post("/users", visit.token, wanted, PasswordLink)
        except (Invalid, NameTaken, NotFound) as error:
            return await _page(context, request, visit, error=error, typed=fields)
        return _show_link(context, request, visit, made)

    @router.post("/{user_id}/link")
    async def make_link(request: Request, user_id: UUID, visit: Visit = signed_in) -> Response:
        return await _make_link(context, request, visit, user_id)

    @router.post("/{user_id}/{act}")
    async def change(
        request: Request, user_id: UUID, act: str, visit: Visit = signed_in
    ) -> Response:
        await forms.read(request)
        if act not in DONE:
            raise NotFound()
        try:
            await context.main_server.tell("POST", f"/users/{user_id}/{act}", visit.token)
        except Invalid as error:
            return await _page(context, request, visit, error=error)
        return RedirectResponse(f"/users?done={act}", 303)

    return router


def _wanted(fields: dict[str, str]) -> NewPerson:
    return NewPerson(fields.get("name", "").strip(), role_in(fields), clients_in(fields))


def role_in(fields: dict[str, str]) -> UserRole:
    try:
        return UserRole(fields.get("role", ""))
    except ValueError:
        raise Invalid("There is no such role.") from None


def clients_in(fields: dict[str, str]) -> list[str]:
    return fields.get("clients", "").replace(",", " ").split()


def roles_for(visit: Visit, domain: str | None = None) -> list[str]:
    """Return the roles that can be given: the gateway's own domain has super-administrators, and
    nobody else."""
    above = visit.claims.role is UserRole.SUPER_ADMIN
    if above and domain == INFRASTRUCTURE_DOMAIN:
        return [UserRole.SUPER_ADMIN.value]
    roles = [UserRole.USER, UserRole.ADMIN]
    return [
        one.value for one in ([*roles, UserRole.SUPER_ADMIN] if above and not domain else roles)
    ]


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    *,
    done: str | None = None,
    error: GatepostError | None = None,
    typed: dict[str, str] | None = None,
    looked: Looked = Looked(),
) -> Response:
    found = await context.main_server.get("/users", visit.token, Accounts, **looked.asked())
    return context.pages.make(
        request,
        "users.html",
        visit,
        accounts=found.accounts,
        looked=looked,
        following=looked.following(found.next),
        roles=roles_for(visit),
        error=error,
        typed={"name": "", "role": "user", "clients": ""} | (typed or {}),
        done=done,
    )


async def _make_link(context: Context, request: Request, visit: Visit, user_id: UUID) -> Response:
    await forms.read(request)
    path = f"/users/{user_id}/link"
    try:
        made = await context.main_server.post(path, visit.token, None, PasswordLink)
    except Invalid as error:
        return await _page(context, request, visit, error=error)
    return _show_link(context, request, visit, made)


def _show_link(context: Context, request: Request, visit: Visit, made: PasswordLink) -> Response:
    address = f"https://{request.headers.get('host', '')}/password/{made.token}"
    return context.pages.make(request, "user_link.html", visit, made=made, address=address)
