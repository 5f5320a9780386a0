"""One client, for administrators: how much it may send, with which certificates, and whether."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid, NotFound
from gatepost.wire.holders import CertificatePage, Client, ClientChange, KeptTokens
from gatepost.wire.retention import Kept
from portal import forms
from portal.context import Context
from portal.pages.certificates import UNTOLD
from portal.pages.clients import checked, number
from portal.pages.tokens import state_of
from portal.visits import Visit, visitor

DONE = {
    "created": "The client is there. Give it a certificate, or a token to enrol with.",
    "limits": "The new limits count within a second or two.",
    "disable": "The client is disabled: within a second or two nothing of it is accepted.",
    "enable": "The client may send again.",
    "revoked": "What it had is revoked: nobody gets in with it any more.",
}
"""The words when it is done."""


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/clients/{client_id}")
    signed_in = visitor(context)

    @router.get("")
    async def client(
        request: Request, client_id: str, done: str = "", visit: Visit = signed_in
    ) -> Response:
        return await _page(context, request, visit, client_id, done=done)

    @router.post("/limits")
    async def limit(request: Request, client_id: str, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request)
        try:
            rate, burst = number(fields, "rate_per_second"), number(fields, "burst")
            await _change(context, visit, client_id, ClientChange(rate, burst))
        except Invalid as error:
            return await _page(context, request, visit, client_id, error=error)
        return RedirectResponse(f"/clients/{checked(client_id)}?done=limits", 303)

    @router.post("/{act}")
    async def change(
        request: Request, client_id: str, act: str, visit: Visit = signed_in
    ) -> Response:
        await forms.read(request)
        if act not in ("disable", "enable"):
            raise NotFound()
        await _change(context, visit, client_id, ClientChange(disabled=act == "disable"))
        return RedirectResponse(f"/clients/{checked(client_id)}?done={act}", 303)

    return router


async def _change(context: Context, visit: Visit, client_id: str, change: ClientChange) -> None:
    await context.main_server.tell("PATCH", f"/clients/{checked(client_id)}", visit.token, change)


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    client_id: str,
    *,
    done: str = "",
    error: GatepostError | None = None,
) -> Response:
    main_server, token = context.main_server, visit.token
    found = await main_server.get(f"/clients/{checked(client_id)}", token, Client)
    whose = {"domain": found.domain, "name": found.name}
    certificates = await main_server.get(
        "/certificates", token, CertificatePage, **whose, role="client", sorting="expiry"
    )
    tokens = await main_server.get("/tokens", token, KeptTokens, **whose)
    kept = await main_server.get(f"/retention/clients/{client_id}", token, Kept)
    verb, _, untold = done.partition("-")
    return context.pages.make(
        request,
        "client.html",
        visit,
        client=found,
        certificates=list(reversed(certificates.certificates)),
        kept=kept,
        tokens=[one for one in tokens.tokens if state_of(one) == "open"],
        done=DONE.get(verb),
        untold=UNTOLD if untold == "untold" else None,
        error=error,
    )
