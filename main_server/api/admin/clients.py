"""Administrators' calls about clients: who may send, and how much."""

from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import FieldError, Invalid, NotFound
from gatepost.trust.identity import Identity, Role
from gatepost.wire.holders import Client, ClientChange, ClientOrder, ClientPage
from main_server.api.administrators import note_look
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer
from main_server.ca.holders import CLIENT_ID, check_after, place_holder
from main_server.ca.online import OnlineCa
from main_server.people.administrator import Administrator
from main_server.store.database import transact
from main_server.tenants.clients import repository, service
from main_server.tenants.names import check_names

MOST = 500
RATES = range(1, 100_001)


def create_router(context: Context, prefix: str, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says who asks."""
    router = APIRouter(prefix=f"{prefix}/clients")

    @router.post("")
    async def create(request: Request, asker: Administrator = admin) -> Response:
        wanted = await read(request, ClientOrder)
        return answer(_client(await context.ledger.run(_create, context.ca, wanted, asker)), 201)

    @router.get("")
    async def list_all(
        domain: str | None = None,
        after: str = "",
        limit: int = MOST,
        asker: Administrator = admin,
    ) -> Response:
        check_names(domain)
        check_after(after, CLIENT_ID)
        await note_look(context, asker, "clients.listed", domain, {"page": after or "first"})
        selection, most = asker.selection(domain), max(1, min(limit, MOST))
        if selection is None:
            return answer(ClientPage([], None))
        page = partial(repository.list_clients, domain=selection.domain, after=after, limit=most)
        found = await context.ledger.run(transact, page)
        following = found[-1].client_id if len(found) == most else None
        return answer(ClientPage([_client(one) for one in found], following))

    @router.get("/{client_id}")
    async def show(client_id: str, asker: Administrator = admin) -> Response:
        find = partial(repository.find, client_id=_checked(client_id, asker))
        found = await context.ledger.run(transact, find)
        if found is None:
            raise NotFound(service.NOBODY)
        await note_look(context, asker, "client.seen", found.domain, {"client_id": client_id})
        return answer(_client(found))

    @router.patch("/{client_id}")
    async def change(client_id: str, request: Request, asker: Administrator = admin) -> Response:
        wanted = await read(request, ClientChange)
        if wanted.disabled is False:
            asker.check_proved()
        return answer(
            _client(await context.ledger.run(_change, context.ca, client_id, wanted, asker))
        )

    return router


def _create(
    engine: Engine, ca: OnlineCa, wanted: ClientOrder, asker: Administrator
) -> repository.Client:
    _check(rate_per_second=wanted.rate_per_second, burst=wanted.burst)
    domain, name = place_holder(engine, wanted.client_id, asker.domain)
    identity = Identity(domain, Role.CLIENT, name)
    rate, burst = wanted.rate_per_second, wanted.burst
    return service.create(engine, identity, rate, burst, ca.now(), asker.actor)


def _change(
    engine: Engine, ca: OnlineCa, client_id: str, wanted: ClientChange, asker: Administrator
) -> repository.Client:
    _check(rate_per_second=wanted.rate_per_second, burst=wanted.burst)
    change = service.Change(wanted.rate_per_second, wanted.burst, wanted.disabled)
    return service.change(engine, _checked(client_id, asker), change, ca.now(), asker.actor)


def _checked(client_id: str, asker: Administrator) -> str:
    """Return the client's id; raise NotFound for another domain's before the ledger is asked
    (I12)."""
    domain, _, name = client_id.partition(":")
    check_names(domain, name)
    if asker.selection(domain) is None:
        raise NotFound(service.NOBODY)
    return client_id


def _check(**numbers: int | None) -> None:
    wrong = [name for name, value in numbers.items() if value is not None and value not in RATES]
    if wrong:
        words = f"is not between {RATES[0]} and {RATES[-1]}"
        raise Invalid(errors=[FieldError(f"/{name}", words) for name in wrong])


def _client(found: repository.Client) -> Client:
    said = asdict(found)
    for name in ("created_at", "disabled_at"):
        said[name] = iso(to_ms(said[name])) if said[name] else None
    return Client(**said)
