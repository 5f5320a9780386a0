"""Administrators and those who hold certificates: clients, and tokens to enrol with."""

from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import FieldError, Invalid, NotFound
from gatepost.identity import Identity, Role
from gatepost.service.api import allow
from main_server.admin.bodies import ClientChange, ClientOrder, TokenOrder, read
from main_server.admin.certificates import within
from main_server.ca.enrolment import make_token, withdraw
from main_server.ca.holders import check_after, check_names, place_holder
from main_server.ca.online import OnlineCa
from main_server.ca.tokens.repository import Kept, list_tokens
from main_server.clients import service as clients
from main_server.clients.repository import Client, list_clients
from main_server.context import Context, identify
from main_server.database import transact

MOST = 500
RATES = range(1, 100_001)


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/admin")
    admin = allow(identify(context), Role.ADMIN)

    @router.post("/tokens", status_code=201)
    async def create_token(request: Request, caller: Identity = admin) -> dict[str, Any]:
        wanted = await read(request, TokenOrder)
        return await context.ledger.run(_make_token, context.ca, wanted, caller)

    @router.get("/tokens")
    async def tokens(caller: Identity = admin) -> dict[str, Any]:
        read_all = partial(list_tokens, domain=within(caller), limit=MOST)
        found = await context.ledger.run(transact, read_all)
        return {"tokens": [_token(one) for one in found]}

    @router.delete("/tokens/{token}", status_code=204)
    async def withdraw_token(token: str, caller: Identity = admin) -> Response:
        digest = _digest(token)
        await context.ledger.run(withdraw, digest, within(caller), context.ca.now(), caller.uri)
        return Response(status_code=204)

    @router.post("/clients", status_code=201)
    async def create_client(request: Request, caller: Identity = admin) -> dict[str, Any]:
        wanted = await read(request, ClientOrder)
        return _client(await context.ledger.run(_create, context.ca, wanted, caller))

    @router.get("/clients")
    async def list_all(
        domain: str | None = None, after: str = "", caller: Identity = admin
    ) -> dict[str, Any]:
        own = within(caller)
        if own is not None and domain not in (None, own):
            return {"clients": [], "next": None}
        check_names(domain)
        check_after(after)
        page = partial(list_clients, domain=own or domain, after=after, limit=MOST)
        found = await context.ledger.run(transact, page)
        following = found[-1].client_id if len(found) == MOST else None
        return {"clients": [_client(one) for one in found], "next": following}

    @router.patch("/clients/{client_id}")
    async def change(client_id: str, request: Request, caller: Identity = admin) -> dict[str, Any]:
        wanted = await read(request, ClientChange)
        return _client(await context.ledger.run(_change, context.ca, client_id, wanted, caller))

    return router


def _make_token(
    engine: Engine, ca: OnlineCa, wanted: TokenOrder, caller: Identity
) -> dict[str, Any]:
    domain, name = place_holder(engine, wanted.client_id, within(caller))
    identity, lifetime = Identity(domain, Role.CLIENT, name), timedelta(minutes=wanted.minutes)
    token = make_token(engine, identity, ca.root, lifetime, ca.now(), caller.uri)
    return {
        "token": str(token),
        "identity": identity.uri,
        "expires_at": iso(to_ms(ca.now() + lifetime)),
        "url": ca.settings.public_url,
    }


def _create(engine: Engine, ca: OnlineCa, wanted: ClientOrder, caller: Identity) -> Client:
    _check(rate_per_second=wanted.rate_per_second, burst=wanted.burst)
    domain, name = place_holder(engine, wanted.client_id, within(caller))
    identity = Identity(domain, Role.CLIENT, name)
    rate, burst = wanted.rate_per_second, wanted.burst
    return clients.create(engine, identity, rate, burst, ca.now(), caller.uri)


def _change(
    engine: Engine, ca: OnlineCa, client_id: str, wanted: ClientChange, caller: Identity
) -> Client:
    _check(rate_per_second=wanted.rate_per_second, burst=wanted.burst)
    domain, _, name = client_id.partition(":")
    check_names(domain, name)
    if within(caller) not in (None, domain):
        raise NotFound("There is no such client.")
    change = clients.Change(wanted.rate_per_second, wanted.burst, wanted.disabled)
    return clients.change(engine, client_id, change, ca.now(), caller.uri)


def _check(**numbers: int | None) -> None:
    wrong = [name for name, value in numbers.items() if value is not None and value not in RATES]
    if wrong:
        words = f"is not between {RATES[0]} and {RATES[-1]}"
        raise Invalid(errors=[FieldError(f"/{name}", words) for name in wrong])


def _digest(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NotFound("There is no such token.") from None


def _token(kept: Kept) -> dict[str, Any]:
    """By its hash: the token itself was shown once."""
    times = ("created_at", "expires_at", "used_at", "withdrawn_at")
    said = {name: getattr(kept, name) for name in times}
    return {
        "token": kept.token_hash.hex(),
        "identity": kept.identity.uri,
        "serial": kept.serial,
        **{name: iso(to_ms(time)) if time else None for name, time in said.items()},
    }


def _client(client: Client) -> dict[str, Any]:
    times = ("created_at", "disabled_at")
    said = asdict(client)
    return said | {name: iso(to_ms(said[name])) if said[name] else None for name in times}
