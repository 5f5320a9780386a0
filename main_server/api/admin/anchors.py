"""Administrators' calls about CAs that aren't ours: which are trusted, and certificates that they
signed.

Whom we trust is for those alone who cross the walls between domains. What a trusted CA has signed
is registered as certificates are issued: by a domain's own administrator as well (I12).
"""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import WrongRole
from gatepost.service.requests import context_of
from gatepost.trust.identity import Identity, Role
from gatepost.wire.holders import AnchorOrder, Registration
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.ca.anchors import service
from main_server.ca.anchors.repository import list_anchors
from main_server.ca.holders import place_holder
from main_server.ca.online import OnlineCa
from main_server.people.administrator import Administrator
from main_server.store.database import transact


def create_router(context: Context, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says which program asks."""
    router = APIRouter(prefix="/admin")

    @router.post("/anchors", status_code=201)
    async def add(request: Request, asker: Administrator = admin) -> dict[str, Any]:
        _check_reach(asker)
        wanted = await read(request, AnchorOrder)
        pem, folder, now = wanted.certificate.encode(), context.ca.settings.folder, context.ca.now()
        work = service.add
        made = await context.ledger.run(work, folder, wanted.domain, pem, now, asker.actor)
        context_of(request.scope).event = "anchor.added"
        return service.describe(made)

    @router.get("/anchors")
    async def list_all(asker: Administrator = admin) -> dict[str, Any]:
        _check_reach(asker)
        found = await context.ledger.run(transact, list_anchors)
        return {"anchors": [service.describe(one) for one in found]}

    @router.delete("/anchors/{anchor}")
    async def remove(anchor: str, request: Request, asker: Administrator = admin) -> dict[str, Any]:
        """Remove a trusted CA; Redis is told before the answer, as by a revocation (I8)."""
        _check_reach(asker)
        ca = context.ca
        done = await context.ledger.run(
            service.remove, ca.authorities.all, anchor, ca.now(), asker.actor
        )
        context_of(request.scope).event = "anchor.removed"
        return {"serials": done.serials, "redis_told": await ca.publish()}

    @router.post("/certificates/register", status_code=201)
    async def register(request: Request, asker: Administrator = admin) -> dict[str, Any]:
        wanted = await read(request, Registration)
        made = await context.ledger.run(_register, context.ca, wanted, asker)
        context_of(request.scope).event = "certificate.registered"
        context_of(request.scope).fields["serial"] = made["serial"]
        return made

    return router


def _check_reach(asker: Administrator) -> None:
    if asker.domain is not None:
        raise WrongRole("Whom we trust is not for the administrator of a domain to say.")


def _register(
    engine: Engine, ca: OnlineCa, wanted: Registration, asker: Administrator
) -> dict[str, Any]:
    domain, name = place_holder(engine, wanted.client_id, asker.domain)
    identity = Identity(domain, Role.CLIENT, name)
    pem = wanted.certificate.encode()
    made = service.register(engine, identity, pem, ca.now(), asker.actor)
    return {
        "identity": identity.uri,
        "serial": made.serial,
        "fingerprint": made.fingerprint.hex(),
        "anchor": made.anchor.hex(),
        "not_after": iso(to_ms(made.not_after)),
    }
