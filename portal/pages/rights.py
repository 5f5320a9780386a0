"""One person, for administrators: their role, and whose messages they see."""

from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid, NotFound
from gatepost.wire.people import Account, RightsChange
from portal import forms
from portal.context import Context
from portal.pages.users import clients_in, role_in, roles_for
from portal.visits import Visit, visitor


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/users/{user_id}")
    signed_in = visitor(context)

    @router.get("")
    async def show(request: Request, user_id: UUID, visit: Visit = signed_in) -> Response:
        return await _page(context, request, visit, user_id)

    @router.post("/rights")
    async def change(request: Request, user_id: UUID, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        try:
            wanted = RightsChange(role_in(fields), clients_in(fields))
            await context.main_server.tell("POST", f"/users/{user_id}/rights", visit.token, wanted)
        except (Invalid, NotFound) as error:
            return await _page(context, request, visit, user_id, error=error, typed=fields)
        return RedirectResponse("/users?done=rights", 303)

    return router


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    user_id: UUID,
    *,
    error: GatepostError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    account = await context.main_server.get(f"/users/{user_id}", visit.token, Account)
    names = [one.removeprefix(f"{account.domain}:") for one in account.client_ids]
    there = {"role": account.role.value, "clients": ", ".join(names)}
    return context.pages.make(
        request,
        "user.html",
        visit,
        account=account,
        roles=roles_for(visit, account.domain),
        typed=there | (typed or {}),
        error=error,
    )
