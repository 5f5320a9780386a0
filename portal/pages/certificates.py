"""Certificates, for administrators: who has which, until when; and one of them."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from gatepost.errors import GatepostError, Invalid, NotFound
from gatepost.trust.expiry import DAYS
from gatepost.trust.identity import Role
from gatepost.wire.holders import CertificateDetail, CertificatePage
from portal.context import Context
from portal.visits import Visit, visitor

MOST = "50"
STATES = ("active", "expired", "held", "revoked", "intended", "any")
DONE = {
    "revoked": "It is revoked: nobody gets in with it any more.",
    "held": "It is on hold: nobody gets in with it until it is released.",
    "released": "It is released, and good again.",
}
UNTOLD = (
    "Redis could not be told just now. Proxies hear of it from any main server that runs,"
    " within a second."
)
_SERIAL = re.compile(r"\A[0-9a-f]{32}\Z")
_NOTHING = CertificatePage([], None)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The list's filters, as typed; empty is no filter."""

    state: str = "active"
    name: str = ""
    domain: str = ""
    role: str = ""
    expiring: str = ""

    def asked(self) -> dict[str, str]:
        """Return what the main server is asked for; raise Invalid for a value that isn't on the
        list."""
        known: tuple[tuple[str, tuple[str, ...]], ...] = (
            (self.state, STATES),
            (self.role, ("", *Role)),
            (self.expiring, ("", *(str(days) for days in DAYS))),
        )
        if not all(value in allowed for value, allowed in known):
            raise Invalid("Choose one of the values that are offered.")
        domain, colon, name = self.name.strip().rpartition(":")
        whole = {
            "status": "" if self.state == "any" else self.state,
            "name": name,
            "domain": domain if colon else self.domain.strip(),
            "role": self.role,
            "expiring_days": self.expiring,
        }
        return {key: value for key, value in whole.items() if value}

    def address(self, **more: str | None) -> str:
        whole = {key: value for key, value in (asdict(self) | more).items() if value}
        return f"/certificates?{urlencode(whole)}"


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/certificates")
    signed_in = visitor(context)

    @router.get("")
    async def certificates(request: Request, after: str = "", visit: Visit = signed_in) -> Response:
        narrowed = _narrowed(request.query_params)
        try:
            page = await _list(context, visit, narrowed, after)
        except Invalid as error:
            return _page(context, request, visit, narrowed, _NOTHING, error)
        return _page(context, request, visit, narrowed, page)

    @router.get("/{serial}")
    async def certificate(
        request: Request, serial: str, done: str = "", visit: Visit = signed_in
    ) -> Response:
        found = await find(context, visit, serial)
        verb, _, untold = done.partition("-")
        return context.pages.make(
            request,
            "certificate.html",
            visit,
            certificate=found,
            done=DONE.get(verb),
            untold=UNTOLD if untold == "untold" else None,
        )

    return router


async def find(context: Context, visit: Visit, serial: str) -> CertificateDetail:
    path = f"/certificates/{checked(serial)}"
    return await context.main_server.get(path, visit.token, CertificateDetail)


def checked(serial: str) -> str:
    """Return the serial if it is one: it becomes part of a path, and nothing else may."""
    if not _SERIAL.match(serial):
        raise NotFound("No such certificate is in the ledger.")
    return serial


def _narrowed(given: Mapping[str, str]) -> Narrowed:
    names = {field.name for field in fields(Narrowed)}
    return Narrowed(**{name: value for name, value in given.items() if name in names})


async def _list(context: Context, visit: Visit, narrowed: Narrowed, after: str) -> CertificatePage:
    asked = narrowed.asked() | {"sorting": "expiry", "limit": MOST}
    if after:
        asked["after"] = after
    return await context.main_server.get("/certificates", visit.token, CertificatePage, **asked)


def _within(days: int) -> str:
    return f"within {days} {'day' if days == 1 else 'days'}"


def _page(
    context: Context,
    request: Request,
    visit: Visit,
    narrowed: Narrowed,
    page: CertificatePage,
    error: GatepostError | None = None,
) -> Response:
    return context.pages.make(
        request,
        "certificates.html",
        visit,
        narrowed=narrowed,
        page=page,
        states=[(one, one) for one in STATES],
        roles=[("", "any"), *((one.value, one.value) for one in Role)],
        expiring=[("", "any time"), *((str(days), _within(days)) for days in DAYS)],
        error=error,
    )
