"""The call by which holders of certificates renew them. For a partner, the proxy makes it."""

import base64
import binascii
from typing import Any

import msgspec
from fastapi import APIRouter, Request

from gatepost.decoding import decode_said
from gatepost.errors import BadOrder, Malformed
from gatepost.service.api import allow
from gatepost.service.asgi import read_body
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from gatepost.trust.identity import Certificate, Identity, Role
from main_server.api.context import Context, identify
from main_server.ca.authority import Usage
from main_server.ca.founding import read_pins
from main_server.ca.renewal import Renewal, renew

MAX_BYTES = 48 * 1024


class RenewalBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A renewal, in base64: the request (DER) and its signature by the old key. A proxy names the
    client's certificate."""

    csr: str
    signature: str
    fingerprint: str | None = None
    usage: str | None = None


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/internal")
    holder = allow(identify(context), Role.PROXY, Role.WORKER, Role.PORTAL, Role.ADMIN)

    @router.post("/certificates/renew", status_code=201)
    async def renew_certificate(request: Request, caller: Identity = holder) -> dict[str, Any]:
        shown: Certificate = request.scope[CERTIFICATE]
        asked = _read(await read_body(request.receive, MAX_BYTES), shown)
        authorities, now = context.ca.authorities, context.ca.now()
        made = await context.ledger.run(renew, authorities, asked, caller, now)
        context_of(request.scope).event = "certificate.renewed"
        context_of(request.scope).fields["serial"] = made.serial
        pins = read_pins(context.ca.settings.folder)
        return {"cert": made.chain_pem.decode(), "ca": pins.decode()}

    return router


def _read(body: bytes, shown: Certificate) -> Renewal:
    try:
        said = decode_said(body, RenewalBody)
        csr, signature = (base64.b64decode(v, validate=True) for v in (said.csr, said.signature))
        fingerprint = said.fingerprint or shown.fingerprint
        bytes.fromhex(fingerprint)
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        raise Malformed("It is not what `gatepost cert renew` sends.") from None
    if said.usage not in (None, "client", "server"):
        raise BadOrder("A certificate's usage is client or server.")
    return Renewal(fingerprint, csr, signature, Usage[said.usage.upper()] if said.usage else None)
