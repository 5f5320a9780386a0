"""Administrators' calls about how long messages are kept: what is set, and legal holds.

Whoever is of a domain sees and holds that domain alone; what is another's is answered as what isn't
there (I12).
"""

from functools import partial
from typing import Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Request, Response

from gatepost.clock import from_ms
from gatepost.errors import BadOrder, NotFound
from gatepost.wire.retention import DaysOrder, HoldOrder
from main_server.api.administrators import note_look
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer, now_of
from main_server.people.administrator import Administrator
from main_server.retention import service
from main_server.retention.documents import hold_document, kept_document
from main_server.retention.run_repository import last_done
from main_server.retention.service import Asker, Subject
from main_server.store.database import transact
from main_server.tenants.names import check_names


def create_router(context: Context, prefix: str, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says who asks."""
    router = APIRouter(prefix=f"{prefix}/retention")

    @router.get("/domains/{domain}")
    async def show_domain(domain: str, asker: Administrator = admin) -> Response:
        return await _show(context, asker, _domain(domain, asker))

    @router.get("/clients/{client_id}")
    async def show_client(client_id: str, asker: Administrator = admin) -> Response:
        return await _show(context, asker, _client(client_id, asker))

    @router.post("/clients/{client_id}")
    async def set_days(client_id: str, request: Request, asker: Administrator = admin) -> Response:
        asker.check_proved()
        subject = _client(client_id, asker)
        if asker.domain is not None:
            raise BadOrder("For how long messages are kept is said by who looks after all domains.")
        days = (await read(request, DaysOrder)).retention_days
        await context.ledger.run(service.set_days, _asker(asker), subject, days, now_of(context))
        return await _answer(context, asker, subject)

    @router.post("/domains/{domain}/holds")
    async def hold_domain(domain: str, request: Request, asker: Administrator = admin) -> Response:
        return await _hold(context, request, asker, _domain(domain, asker))

    @router.post("/clients/{client_id}/holds")
    async def hold_client(
        client_id: str, request: Request, asker: Administrator = admin
    ) -> Response:
        return await _hold(context, request, asker, _client(client_id, asker))

    @router.post("/holds/{hold_id}/lift")
    async def lift(hold_id: str, request: Request, asker: Administrator = admin) -> Response:
        asker.check_proved()
        reason = (await read(request, HoldOrder)).reason
        named = _hold_id(hold_id)
        order = partial(service.lift_hold, asker=_asker(asker), hold_id=named, reason=reason)
        lifted = await context.ledger.run(order, now=now_of(context))
        return answer(hold_document(lifted, _asker(asker)))

    return router


async def _show(context: Context, asker: Administrator, subject: Subject) -> Response:
    await note_look(context, asker, "retention.seen", subject.domain, {"of": subject.name})
    return await _answer(context, asker, subject)


async def _answer(context: Context, asker: Administrator, subject: Subject) -> Response:
    kept = await context.ledger.run(service.show, subject)
    last = await context.ledger.run(transact, last_done)
    today = from_ms(context.clock.now_ms()).date()
    return answer(kept_document(kept, _asker(asker), today, last.started_at if last else None))


async def _hold(
    context: Context, request: Request, asker: Administrator, subject: Subject
) -> Response:
    reason = (await read(request, HoldOrder)).reason
    order = partial(service.set_hold, asker=_asker(asker), subject=subject, reason=reason)
    made = await context.ledger.run(order, hold_id=uuid4(), now=now_of(context))
    return answer(hold_document(made, _asker(asker)), 201)


def _asker(asker: Administrator) -> Asker:
    return Asker(asker.actor, asker.domain)


def _hold_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(service.NO_HOLD) from None


def _domain(domain: str, asker: Administrator) -> Subject:
    check_names(domain)
    if asker.selection(domain) is None:
        raise NotFound("There is no such domain.")
    return Subject(domain)


def _client(client_id: str, asker: Administrator) -> Subject:
    domain, _, name = client_id.partition(":")
    check_names(domain, name)
    if asker.selection(domain) is None:
        raise NotFound("There is no such client.")
    return Subject(domain, client_id)
