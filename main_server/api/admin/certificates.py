"""Administrators' calls about certificates: issue, renew, list, show."""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from gatepost.bounds import MOST_DAYS
from gatepost.service.requests import context_of
from gatepost.trust.identity import Role
from gatepost.wire.holders import (
    Certificate,
    CertificateOrder,
    CertificatePage,
    IssuedCertificate,
    RenewalOrder,
)
from main_server.api.admin.issuing import issue, renew
from main_server.api.admin.looking import show
from main_server.api.administrators import note_look
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer
from main_server.ca.holders import SERIAL, check_after
from main_server.ca.list_repository import MOST, Filter, Sorting, Status
from main_server.ca.listing import describe, list_certificates
from main_server.people.administrator import Administrator
from main_server.tenants.names import check_names


class Wanted(BaseModel):
    """The filters, the order and the page of a list, as its address gives them."""

    domain: str | None = None
    role: Role | None = None
    name: str | None = None
    status: Status | None = None
    expiring_days: Annotated[float | None, Field(ge=0, le=MOST_DAYS)] = None
    sorting: Sorting = Sorting.SERIAL
    after: str = ""
    limit: int = MOST


def create_router(context: Context, prefix: str, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says who asks."""
    router = APIRouter(prefix=prefix)

    @router.post("/certs")
    async def issue_one(request: Request, asker: Administrator = admin) -> Response:
        asker.check_proved()
        wanted = await read(request, CertificateOrder)
        return _given(request, await context.ledger.run(issue, context.ca, wanted, asker))

    @router.get("/certificates")
    async def list_all(
        wanted: Annotated[Wanted, Query()], asker: Administrator = admin
    ) -> Response:
        check_names(wanted.domain, wanted.name)
        check_after(wanted.after, SERIAL)
        page = {"page": wanted.after or "first"}
        await note_look(context, asker, "certificates.listed", wanted.domain, page)
        return answer(await _list(context, wanted, asker))

    @router.get("/certificates/{serial}")
    async def show_one(serial: str, asker: Administrator = admin) -> Response:
        found = await context.ledger.run(show, context.ca, serial, asker)
        await note_look(context, asker, "certificate.seen", found.domain, {"serial": found.serial})
        return answer(found)

    @router.post("/certificates/{serial}/renew")
    async def renew_one(serial: str, request: Request, asker: Administrator = admin) -> Response:
        asker.check_proved()
        wanted = await read(request, RenewalOrder)
        made = await context.ledger.run(renew, context.ca, serial, wanted, asker)
        return _given(request, made)

    return router


def _given(request: Request, made: IssuedCertificate) -> Response:
    context_of(request.scope).event = "certificate.issued"
    context_of(request.scope).fields["serial"] = made.serial
    return answer(made, 201)


async def _list(context: Context, wanted: Wanted, asker: Administrator) -> CertificatePage:
    selection, now = asker.selection(wanted.domain, wanted.role, wanted.name), context.ca.now()
    if selection is None:
        return CertificatePage([], None)
    days, most = wanted.expiring_days, max(1, min(wanted.limit, MOST))
    soon = timedelta(days=days) if days is not None else None
    narrowed = Filter(selection, wanted.status, soon, wanted.after, most, wanted.sorting)
    rows = await context.ledger.run(list_certificates, narrowed, now)
    following = rows[-1].serial if len(rows) == most else None
    return CertificatePage([Certificate(**describe(row, now)) for row in rows], following)
