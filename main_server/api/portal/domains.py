"""The portal's calls about domains: a super-administrator looks after them all, an administrator
looks at their own; every other is answered as one that isn't there (I12)."""

from functools import partial

from fastapi import APIRouter, Request, Response

from gatepost.errors import NotFound
from gatepost.queue import QueueError
from gatepost.service.requests import context_of
from gatepost.wire.domains import Disabling, Domains, DomainSettings, NewDomain
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.viewers import viewer_of
from main_server.messages.reading.scope import Asked, domain_within
from main_server.people.users.viewer import UserRole, Viewer
from main_server.tenants.domains import service
from main_server.tenants.domains.documents import domain_document
from main_server.tenants.domains.service import Seen


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/domains")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)
    of_all = viewer_of(context, UserRole.SUPER_ADMIN)

    @router.get("")
    async def list_domains(asker: Viewer = viewer) -> Response:
        await cross(context, asker, "domains.listed", Asked(), {})
        own = domain_within(asker, Asked())
        found = await context.ledger.run(service.list_all)
        return answer(
            Domains([domain_document(one) for one in found if own in (None, one.domain.domain)])
        )

    @router.post("")
    async def create(request: Request, asker: Viewer = of_all) -> Response:
        asker.check_proved()
        wanted = await read(request, NewDomain)
        now = now_of(context)
        made = await context.ledger.run(service.create, wanted.domain, wanted, now, asker.actor)
        return await _changed(context, request, "domain.created", made.domain)

    @router.get("/{domain}")
    async def show(domain: str, asker: Viewer = viewer) -> Response:
        if domain_within(asker, Asked(domain)) != domain:
            raise NotFound("There is no such domain.")
        seen = await context.ledger.run(service.show, domain)
        await cross(context, asker, "domain.seen", Asked(domain), {})
        return answer(domain_document(seen, await _waiting(context, seen)))

    @router.post("/{domain}")
    async def change(domain: str, request: Request, asker: Viewer = of_all) -> Response:
        asker.check_proved()
        wanted = await read(request, DomainSettings)
        shared, now = context.queues.full_name(None), now_of(context)
        move = partial(service.change, shared=shared)
        await context.ledger.run(move, domain, wanted, now, asker.actor)
        return await _changed(context, request, "domain.changed", domain)

    @router.post("/{domain}/disable")
    async def disable(domain: str, request: Request, asker: Viewer = of_all) -> Response:
        asker.check_proved()
        reason, now = (await read(request, Disabling)).reason, now_of(context)
        await context.ledger.run(service.disable, domain, reason, now, asker.actor)
        return await _changed(context, request, "domain.disabled", domain)

    @router.post("/{domain}/enable")
    async def enable(domain: str, request: Request, asker: Viewer = of_all) -> Response:
        asker.check_proved()
        await context.ledger.run(service.enable, domain, now_of(context), asker.actor)
        return await _changed(context, request, "domain.enabled", domain)

    return router


async def _changed(context: Context, request: Request, event: str, domain: str) -> Response:
    context_of(request.scope).event = event
    return answer(domain_document(await context.ledger.run(service.show, domain)))


async def _waiting(context: Context, seen: Seen) -> int | None:
    """Count the messages in the queues that are the domain's alone; None where it has none, or
    Redis doesn't answer. How many in a shared queue are whose, nobody knows without looking at each
    of them."""
    if seen.domain.queue is None:
        return None
    queues = [seen.domain.queue, *seen.former_queues]
    try:
        return sum([(await context.queues.named(one).stats()).waiting for one in queues])
    except QueueError:
        return None
