"""Administrators' calls about the tokens that partners enrol with."""

from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Engine

from gatepost.clock import from_ms, iso, to_ms
from gatepost.errors import Invalid, NotFound
from gatepost.trust.identity import Identity, Role
from gatepost.wire.holders import KeptToken, KeptTokens, MadeToken, TokenOrder
from main_server.api.administrators import note_look
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer
from main_server.ca.enrolment import make_token, withdraw
from main_server.ca.holders import place_holder
from main_server.ca.online import OnlineCa
from main_server.ca.token_repository import Kept, list_tokens
from main_server.people.administrator import Administrator
from main_server.store.database import transact
from main_server.tenants.names import check_names

_NO_PAGE = "There is no such page."
MOST = 500
"""The most tokens on a page."""


def create_router(context: Context, prefix: str, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says who asks."""
    router = APIRouter(prefix=f"{prefix}/tokens")

    @router.post("")
    async def create(request: Request, asker: Administrator = admin) -> Response:
        asker.check_proved()
        wanted = await read(request, TokenOrder)
        return answer(await context.ledger.run(_make, context.ca, wanted, asker), 201)

    @router.get("")
    async def list_some(
        domain: str | None = None,
        name: str | None = None,
        after: str = "",
        limit: int = MOST,
        asker: Administrator = admin,
    ) -> Response:
        check_names(domain, name)
        behind = _place(after) if after else None
        await note_look(
            context, asker, "tokens.listed", domain, {"page": "following" if after else "first"}
        )
        selection = asker.selection(domain, Role.CLIENT, name)
        if selection is None:
            return answer(KeptTokens([]))
        most = max(1, min(limit, MOST))
        read_some = partial(
            list_tokens, domain=selection.domain, limit=most + 1, name=name, after=behind
        )
        found = await context.ledger.run(transact, read_some)
        following = _cursor(found[most - 1]) if len(found) > most else None
        return answer(KeptTokens([_token(one) for one in found[:most]], following))

    @router.delete("/{token}", status_code=204)
    async def withdraw_one(token: str, asker: Administrator = admin) -> Response:
        digest, now = _digest(token), context.ca.now()
        await context.ledger.run(withdraw, digest, asker.domain, now, asker.actor)
        return Response(status_code=204)

    return router


def _make(engine: Engine, ca: OnlineCa, wanted: TokenOrder, asker: Administrator) -> MadeToken:
    domain, name = place_holder(engine, wanted.client_id, asker.domain)
    identity, lifetime = Identity(domain, Role.CLIENT, name), timedelta(minutes=wanted.minutes)
    token = make_token(engine, identity, ca.root, lifetime, ca.now(), asker.actor)
    until = iso(to_ms(ca.now() + lifetime))
    return MadeToken(str(token), identity.uri, until, ca.settings.public_url)


def _digest(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NotFound("There is no such token.") from None


def _cursor(last: Kept) -> str:
    return f"{to_ms(last.created_at)}-{last.token_hash.hex()}"


def _place(after: str) -> tuple[datetime, bytes]:
    made, _, token = after.partition("-")
    try:
        moment, digest = from_ms(int(made)), bytes.fromhex(token)
    except (ValueError, OverflowError):
        raise Invalid(_NO_PAGE) from None
    if len(digest) != sha256().digest_size:
        raise Invalid(_NO_PAGE)
    return moment, digest


def _token(kept: Kept) -> KeptToken:
    """Describe a token that is kept; the token itself was shown once."""
    used, withdrawn = kept.used_at, kept.withdrawn_at
    return KeptToken(
        token=kept.token_hash.hex(),
        identity=kept.identity.uri,
        serial=kept.serial,
        created_at=iso(to_ms(kept.created_at)),
        expires_at=iso(to_ms(kept.expires_at)),
        used_at=iso(to_ms(used)) if used else None,
        withdrawn_at=iso(to_ms(withdrawn)) if withdrawn else None,
    )
