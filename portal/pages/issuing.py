"""Issue a certificate, or renew one: for a key that its holder has, or with one made here.

A key that was made here is in the answer to the form and nowhere else: nobody keeps the page, and
nothing of it is in an address or in a log.
"""

import base64
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from gatepost.errors import (
    BadIdentity,
    BadOrder,
    BadSigningRequest,
    FieldError,
    GatepostError,
    Invalid,
    KeyUsedBefore,
    NameTaken,
    NotFound,
)
from gatepost.trust.identity import Role
from gatepost.wire.holders import CertificateOrder, IssuedCertificate, RenewalOrder
from portal import forms
from portal.context import Context
from portal.pages.certificates import checked, find
from portal.pages.clients import client_in, number
from portal.visits import Visit, visitor

WAYS = {
    "csr": "for their own key, by the request below",
    "shown": "with a key made here, shown once",
    "file": "with a key made here, as a PEM file",
    "pkcs12": "with a key made here, as a PKCS#12 file under a password",
}
"""The ways in which it is given."""
TYPED = {
    "client": "", "domain": "", "role": "client", "usage": "", "hosts": "", "days": "",
    "way": "csr", "csr": "",
}  # fmt: skip
_REFUSED = (Invalid, BadOrder, BadIdentity, BadSigningRequest, KeyUsedBefore, NameTaken)


@dataclass(frozen=True, slots=True)
class Given:
    """The way in which somebody wants a certificate to be given."""

    way: str
    csr: str | None
    password: str | None


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/certificates")
    signed_in = visitor(context)

    @router.get("/new")
    async def form(request: Request, client: str = "", visit: Visit = signed_in) -> Response:
        return _form(context, request, visit, {"client": client})

    @router.post("/new")
    async def issue(request: Request, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request, files=True)
        try:
            given = given_in(fields)
            order = _order(fields, given)
            made = await context.main_server.post("/certs", visit.token, order, IssuedCertificate)
        except (*_REFUSED, NotFound) as error:
            return _form(context, request, visit, fields, error)
        return _answer(context, request, visit, given, made)

    @router.get("/{serial}/renew")
    async def renewal(request: Request, serial: str, visit: Visit = signed_in) -> Response:
        return await _renewal(context, request, visit, serial, {})

    @router.post("/{serial}/renew")
    async def renew(request: Request, serial: str, visit: Visit = signed_in) -> Response:
        fields = await forms.read(request, files=True)
        path = f"/certificates/{checked(serial)}/renew"
        try:
            given = given_in(fields)
            order = RenewalOrder(given.csr, given.password)
            made = await context.main_server.post(path, visit.token, order, IssuedCertificate)
        except _REFUSED as error:
            return await _renewal(context, request, visit, serial, fields, error)
        return _answer(context, request, visit, given, made)

    return router


def given_in(fields: dict[str, str]) -> Given:
    """Return the way that was chosen; raise Invalid before anything is issued."""
    way, csr = fields.get("way", ""), fields.get("csr", "").strip()
    if way not in WAYS:
        raise Invalid("Choose how it is given.")
    if way == "csr":
        csr = csr or fields.get("request", "").strip()
        if not csr:
            words = "paste it, or choose its file"
            raise Invalid(errors=[FieldError("/signing_request", words)])
        return Given(way, csr, None)
    if csr or fields.get("request", "").strip():
        raise Invalid("A request brings a key of its own: leave it out, or choose it.")
    if way != "pkcs12":
        return Given(way, None, None)
    if fields.get("password", "") != fields.get("again", ""):
        words = "is not the same password"
        raise Invalid(errors=[FieldError("/again", words)])
    return Given(way, None, fields.get("password", ""))


def _order(fields: dict[str, str], given: Given) -> CertificateOrder:
    try:
        role = Role(fields.get("role", "client"))
    except ValueError:
        raise Invalid(errors=[FieldError("/role", "is one of those that are offered")]) from None
    lives = float(number(fields, "days")) if fields.get("days", "").strip() else None
    return CertificateOrder(
        client_in(fields),
        role,
        fields.get("usage", "") or None,
        fields.get("hosts", "").replace(",", " ").split(),
        lives,
        given.csr,
        given.password,
    )


def _answer(
    context: Context, request: Request, visit: Visit, given: Given, made: IssuedCertificate
) -> Response:
    name = made.identity.rpartition("/")[2]
    if given.way == "file":
        pem = f"{made.key}{made.cert}".encode()
        return _file(f"{name}.pem", "application/x-pem-file", pem)
    if given.way == "pkcs12":
        content = base64.b64decode(made.pkcs12 or "")
        return _file(f"{name}.p12", "application/x-pkcs12", content)
    return context.pages.make(request, "issued.html", visit, made=made, name=name)


def _file(name: str, media_type: str, content: bytes) -> Response:
    told = {"content-disposition": f'attachment; filename="{quote(name)}"'}
    return Response(content, headers=told, media_type=media_type)


def _form(
    context: Context,
    request: Request,
    visit: Visit,
    typed: dict[str, str],
    error: GatepostError | None = None,
) -> Response:
    return _make(context, request, visit, "issue.html", typed, error, roles=list(Role))


async def _renewal(
    context: Context,
    request: Request,
    visit: Visit,
    serial: str,
    typed: dict[str, str],
    error: GatepostError | None = None,
) -> Response:
    found = await find(context, visit, serial)
    return _make(context, request, visit, "renew.html", typed, error, certificate=found)


def _make(
    context: Context,
    request: Request,
    visit: Visit,
    template: str,
    typed: dict[str, str],
    error: GatepostError | None,
    **shown: Any,
) -> Response:
    """Make the page. A password that was typed is never shown again."""
    return context.pages.make(
        request,
        template,
        visit,
        ways=WAYS,
        typed={name: typed.get(name, usual) for name, usual in TYPED.items()},
        error=error,
        **shown,
    )
