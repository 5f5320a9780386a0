"""Administrators and certificates: issue, list, show, revoke, hold, release.

An administrator of a domain sees and changes that domain alone (I12): everything else is answered
as what isn't there. And it issues to clients alone: what else we run is not confined to a domain.
"""

import base64
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy import Engine

from gatepost.errors import BadOrder, Invalid, NotFound
from gatepost.identity import INFRASTRUCTURE_DOMAIN, Identity, Role
from gatepost.service.api import allow
from gatepost.service.requests import context_of
from main_server.admin.bodies import CertificateOrder, Target, read
from main_server.ca import revocation
from main_server.ca.authority import Usage
from main_server.ca.bounds import MOST_DAYS
from main_server.ca.crl import Reason
from main_server.ca.founding import read_pins
from main_server.ca.holders import place_holder
from main_server.ca.listed.repository import MOST, Filter, Status
from main_server.ca.listing import describe, list_certificates, show_certificate
from main_server.ca.online import OnlineCa
from main_server.ca.pkcs12 import check_password, to_pkcs12
from main_server.ca.requests import Asked, grant, select
from main_server.ca.revoked.repository import Selection
from main_server.ca.service import Certified, Issued
from main_server.context import Context, identify

REVOKED, HELD, RELEASED = "certificate.revoked", "certificate.held", "certificate.released"


def within(caller: Identity) -> str | None:
    """The one domain that an administrator is confined to; None for all of them."""
    return None if caller.domain == INFRASTRUCTURE_DOMAIN else caller.domain


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/admin")
    admin = allow(identify(context), Role.ADMIN)

    @router.post("/certs", status_code=201)
    async def issue(request: Request, caller: Identity = admin) -> dict[str, Any]:
        wanted = await read(request, CertificateOrder)
        made = await context.ledger.run(_issue, context.ca, wanted, caller)
        context_of(request.scope).event = "certificate.issued"
        context_of(request.scope).fields["serial"] = made["serial"]
        return made

    @router.get("/certificates")
    async def list_all(
        domain: str | None = None,
        role: Role | None = None,
        name: str | None = None,
        status: Status | None = None,
        expiring_days: Annotated[float | None, Query(ge=0, le=MOST_DAYS)] = None,
        after: str = "",
        limit: int = MOST,
        caller: Identity = admin,
    ) -> dict[str, Any]:
        own = within(caller)
        if own is not None and domain not in (None, own):
            return {"certificates": [], "next": None}
        soon = timedelta(days=expiring_days) if expiring_days is not None else None
        selection = Selection(domain=own or domain, role=role, name=name)
        wanted = Filter(selection, status, soon, after, max(1, min(limit, MOST)))
        rows = await context.ledger.run(list_certificates, wanted, context.ca.now())
        following = rows[-1].serial if len(rows) == wanted.limit else None
        return {
            "certificates": [describe(row, context.ca.now()) for row in rows],
            "next": following,
        }

    @router.get("/certificates/{serial}")
    async def show(serial: str, caller: Identity = admin) -> dict[str, Any]:
        return await context.ledger.run(_show, serial, within(caller), context.ca)

    @router.post("/certificates/revoke")
    async def revoke(request: Request, caller: Identity = admin) -> dict[str, Any]:
        target = await read(request, Target)
        done = HELD if target.reason is Reason.CERTIFICATE_HOLD else REVOKED
        return await _change(request, context, done, partial(_revoke, target=target, caller=caller))

    @router.post("/certificates/hold")
    async def hold(request: Request, caller: Identity = admin) -> dict[str, Any]:
        target = await read(request, Target)
        work = partial(_revoke, target=target, caller=caller, reason=Reason.CERTIFICATE_HOLD)
        return await _change(request, context, HELD, work)

    @router.post("/certificates/release")
    async def release(request: Request, caller: Identity = admin) -> dict[str, Any]:
        target = await read(request, Target)
        work = partial(_release, target=target, caller=caller)
        return await _change(request, context, RELEASED, work)

    return router


async def _change(
    request: Request, context: Context, event: str, work: Callable[..., dict[str, Any]]
) -> dict[str, Any]:
    """Redis is told before the answer: whoever hears it may count on what it says (I8). The
    answer says if it wasn't.

    `event` is what the log calls the request when it has changed something.
    """
    done = await context.ledger.run(work, ca=context.ca)
    told = None
    if not done["dry_run"]:
        told = await context.ca.publish()
        context_of(request.scope).event = event
        context_of(request.scope).fields["serials"] = done["serials"]
    return done | {"redis_told": told}


def _issue(
    engine: Engine, ca: OnlineCa, wanted: CertificateOrder, caller: Identity
) -> dict[str, Any]:
    own = within(caller)
    if own is not None and wanted.role is not Role.CLIENT:
        raise BadOrder("An administrator of a domain issues to its clients.")
    if wanted.pkcs12_password is not None:
        if wanted.csr is not None:
            raise Invalid("PKCS#12 holds the key, and a request doesn't bring it.")
        check_password(wanted.pkcs12_password)
    domain, name = place_holder(engine, wanted.client_id, own)
    asked = Asked(
        Identity(domain, wanted.role, name),
        _usage(wanted.usage),
        wanted.hosts,
        timedelta(days=wanted.days) if wanted.days is not None else None,
        wanted.csr.encode() if wanted.csr is not None else None,
    )
    made = grant(engine, ca.authorities.signing, asked, ca.now(), caller.uri)
    return _issued(made, asked, wanted.pkcs12_password, read_pins(ca.settings.folder))


def _usage(name: str | None) -> Usage | None:
    if name is None:
        return None
    try:
        return Usage[name.upper()]
    except KeyError:
        raise BadOrder("A certificate's usage is client or server.") from None


def _issued(made: Certified, asked: Asked, password: str | None, pins: bytes) -> dict[str, Any]:
    """The key is in this answer and nowhere else: it can't be had again."""
    own = made if isinstance(made, Issued) else None
    packed = to_pkcs12(own, asked.identity.name, password) if own and password is not None else None
    return {
        "cert": made.chain_pem.decode(),
        "key": own.key_pem.decode() if own and packed is None else None,
        "pkcs12": base64.b64encode(packed).decode() if packed else None,
        "fingerprint": made.fingerprint,
        "serial": made.serial,
        "identity": asked.identity.uri,
        "not_after": made.certificate.not_valid_after_utc.isoformat(),
        "ca": pins.decode(),
    }


def _show(engine: Engine, serial: str, own: str | None, ca: OnlineCa) -> dict[str, Any]:
    selection = select(engine, None, serial, None, within=own)
    row = show_certificate(engine, selection, ca.now())
    return describe(row, ca.now())


def _revoke(
    engine: Engine, *, ca: OnlineCa, target: Target, caller: Identity, reason: Reason | None = None
) -> dict[str, Any]:
    selection, now = _selected(engine, target, caller), ca.now()
    why = reason or target.reason
    held = why is Reason.CERTIFICATE_HOLD
    rows = list_certificates(engine, Filter(selection), now)
    if target.dry_run:
        left = ("revoked", "held") if held else ("revoked",)
        serials = [row.serial for row in rows if row.status not in left]
        return {
            "serials": serials,
            "tokens_withdrawn": 0,
            "dry_run": True,
            "revocation_number": None,
        }
    done = revocation.revoke(engine, ca.authorities.all, selection, why, now, caller.uri)
    if not rows and not done.tokens:
        raise NotFound("No such certificate is in the ledger.")
    return _changed(done)


def _release(engine: Engine, *, ca: OnlineCa, target: Target, caller: Identity) -> dict[str, Any]:
    selection = _selected(engine, target, caller)
    done = revocation.release(engine, ca.authorities.all, selection, ca.now(), caller.uri)
    if not done.serials:
        raise NotFound("No such certificate is on hold.")
    return _changed(done)


def _changed(done: revocation.Revocation) -> dict[str, Any]:
    return {
        "serials": done.serials,
        "tokens_withdrawn": done.tokens,
        "dry_run": False,
        "revocation_number": done.number,
    }


def _selected(engine: Engine, target: Target, caller: Identity) -> Selection:
    own = within(caller)
    return select(
        engine, target.client_id, target.serial, target.fingerprint, target.role, within=own
    )
