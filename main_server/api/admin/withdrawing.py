"""Administrators' calls that take certificates away, for good or for a while, and give them
back."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from msgspec.structs import replace
from sqlalchemy import Connection, Engine

from gatepost.errors import NotFound
from gatepost.service.requests import context_of
from gatepost.trust.revocation import Reason
from gatepost.wire.holders import Changed, Target
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer
from main_server.ca import revocation
from main_server.ca.list_repository import Filter
from main_server.ca.listing import list_certificates
from main_server.ca.online import OnlineCa
from main_server.ca.requests import select
from main_server.ca.revoked.repository import Selection, list_revocable
from main_server.people.administrator import Administrator
from main_server.store.database import transact

REVOKED, HELD, RELEASED = "certificate.revoked", "certificate.held", "certificate.released"
_NONE = "No such certificate is in the ledger."


def create_router(context: Context, prefix: str, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says who asks."""
    router = APIRouter(prefix=f"{prefix}/certificates")

    @router.post("/revoke")
    async def revoke_some(request: Request, asker: Administrator = admin) -> Response:
        target = await read(request, Target)
        if not target.dry_run:
            asker.check_proved()
        done = HELD if target.reason is Reason.CERTIFICATE_HOLD else REVOKED
        work = partial(_revoke, target=target, asker=asker, reason=target.reason)
        return answer(await _change(request, context, done, work))

    @router.post("/hold")
    async def hold_some(request: Request, asker: Administrator = admin) -> Response:
        target = await read(request, Target)
        work = partial(_revoke, target=target, asker=asker, reason=Reason.CERTIFICATE_HOLD)
        return answer(await _change(request, context, HELD, work))

    @router.post("/release")
    async def release_some(request: Request, asker: Administrator = admin) -> Response:
        asker.check_proved()
        target = await read(request, Target)
        work = partial(_release, target=target, asker=asker)
        return answer(await _change(request, context, RELEASED, work))

    return router


async def _change(
    request: Request, context: Context, event: str, work: Callable[..., Changed]
) -> Changed:
    """Do the work and tell Redis before the answer: whoever hears it may count on what it says
    (I8). The answer says if Redis wasn't told.

    `event` is what the log calls the request when it has changed something.
    """
    done = await context.ledger.run(work, ca=context.ca)
    if done.dry_run:
        return done
    told = await context.ca.publish()
    context_of(request.scope).event = event
    context_of(request.scope).fields["serials"] = done.serials
    return replace(done, redis_told=told)


def _revoke(
    engine: Engine, *, ca: OnlineCa, target: Target, asker: Administrator, reason: Reason
) -> Changed:
    selection, now = _selected(engine, target, asker), ca.now()
    there = list_certificates(engine, Filter(selection, limit=1), now)
    if target.dry_run:
        changed = transact(engine, partial(_try, selection=selection, reason=reason, now=now))
    else:
        done = revocation.revoke(engine, ca.authorities.all, selection, reason, now, asker.actor)
        changed = _changed(done)
    if not (there or changed.serials or changed.tokens_withdrawn):
        raise NotFound(_NONE)
    return changed


def _release(engine: Engine, *, ca: OnlineCa, target: Target, asker: Administrator) -> Changed:
    selection = _selected(engine, target, asker)
    done = revocation.release(engine, ca.authorities.all, selection, ca.now(), asker.actor)
    if not done.serials:
        raise NotFound("No such certificate is on hold.")
    return _changed(done)


def _selected(engine: Engine, target: Target, asker: Administrator) -> Selection:
    if asker.role is not None and target.role not in (None, asker.role):
        raise NotFound(_NONE)
    named = (target.client_id, target.serial, target.fingerprint)
    try:
        return select(engine, *named, asker.role or target.role, within=asker.domain)
    except NotFound:  # whoever has another role is as unknown as nobody
        raise NotFound(_NONE) from None


def _try(connection: Connection, *, selection: Selection, reason: Reason, now: datetime) -> Changed:
    """Return what would be taken."""
    serials = list_revocable(connection, selection, reason)
    tokens = revocation.count_tokens(connection, selection, serials, now)
    return _told(serials, tokens, None)


def _changed(done: revocation.Revocation) -> Changed:
    return _told(done.serials, done.tokens, done.number)


def _told(serials: list[str], tokens: int, number: int | None) -> Changed:
    """Return the change; Redis is told afterwards, if there is a number."""
    return Changed(
        serials=serials,
        tokens_withdrawn=tokens,
        dry_run=number is None,
        revocation_number=number,
        redis_told=None,
    )
