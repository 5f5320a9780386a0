"""The portal's calls about sessions: signing in, staying so, signing out."""

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from gatepost.clock import from_ms, iso, to_ms
from gatepost.errors import TooManyTries, WrongCredentials
from gatepost.service.api import allow
from gatepost.service.requests import context_of
from gatepost.trust.identity import Identity, Role
from gatepost.wire.contract import encode_json
from gatepost.wire.people import Person, Refresh, SignIn, TokenKey, TokenKeys
from main_server.api.bodies import read
from main_server.api.context import Context, identify
from main_server.api.viewers import Seen, seen_by
from main_server.people.second_step.stage import Stage
from main_server.people.sessions import browsers, service
from main_server.people.sessions.backoff import shown
from main_server.people.sessions.portals import serves
from main_server.people.sessions.service import Opened
from main_server.people.sessions.tokens import tokens_of
from main_server.people.users import service as people
from main_server.people.users.repository import User, replace_hash
from main_server.store.database import transact
from main_server.tenants.domains.repository import find_time_zone


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal")
    portal = allow(identify(context), Role.PORTAL)
    seen = seen_by(context)
    at_any_stage = seen_by(context, stages=tuple(Stage))

    @router.get("/keys", dependencies=[portal])
    async def token_keys() -> Response:
        keys = context.keyring.token_keys(from_ms(context.clock.now_ms()))
        found = [TokenKey(kid, key.public_bytes_raw().hex()) for kid, key in keys.items()]
        return _answer(TokenKeys(found, context.clock.now_ms()))

    @router.post("/session")
    async def sign_in(request: Request, caller: Identity = portal) -> Response:
        wanted = await read(request, SignIn)
        about = context_of(request.scope)
        about.event = "session.tried"
        about.fields |= shown(*_who(wanted), wanted.address)
        opened = await _sign_in(context, caller, wanted)
        about.event = "session.opened"
        about.fields["user"] = str(UUID(bytes=opened.user.user_id))
        return _tokens(context, opened, in_a_browser=opened.whole)

    @router.post("/session/refresh")
    async def refresh(request: Request, caller: Identity = portal) -> Response:
        wanted = await read(request, Refresh)
        refresh = partial(service.refresh, serves=partial(serves, caller))
        opened = await context.ledger.run(refresh, wanted.refresh_token, _now(context))
        return _tokens(context, opened)

    @router.get("/session")
    async def show(asker: Seen = seen) -> Response:
        read_zone = partial(find_time_zone, domain=asker.user.domain)
        return _answer(_person(asker, await context.ledger.run(transact, read_zone)))

    @router.delete("/session", status_code=204)
    async def sign_out(asker: Seen = at_any_stage) -> Response:
        session_id = UUID(bytes=asker.session.session_id)
        await context.ledger.run(service.end, session_id, _now(context))
        return Response(status_code=204)

    @router.delete("/sessions", status_code=204)
    async def sign_out_everywhere(asker: Seen = seen) -> Response:
        actor = asker.viewer.actor
        await context.ledger.run(people.sign_out, asker.user, _now(context), actor)
        return Response(status_code=204)

    return router


async def _sign_in(context: Context, caller: Identity, wanted: SignIn) -> Opened:
    """Sign somebody in; a name that nobody has fails as a wrong password does, in words and in
    time."""
    (domain, name), now = _who(wanted), _now(context)
    keys = context.keyring.token_keys(from_ms(context.clock.now_ms()))
    known = browsers.known(wanted.browser, keys, domain, name)
    tried = await context.ledger.run(service.begin_try, domain, name, wanted.address, now, known)
    kept = tried.user.password_hash if tried.user else None
    right = await context.passwords.is_right(kept, wanted.password)
    if not right or not serves(caller, domain):
        raise WrongCredentials()
    opened = await context.ledger.run(service.open_session, tried, _now(context))
    if wanted.before is not None:
        await context.ledger.run(service.end_by, wanted.before, _now(context))
    await _keep_anew(context, opened.user, wanted.password)
    return opened


async def _keep_anew(context: Context, user: User, password: str) -> None:
    """Hash a password anew and keep that, if passwords are to cost more since this one was set."""
    kept = user.password_hash or ""
    with suppress(TooManyTries):  # next time
        if hashed := await context.passwords.made_anew(kept, password):
            put = partial(replace_hash, user_id=user.user_id, kept=kept, hashed=hashed)
            await context.ledger.run(transact, put)


def _who(wanted: SignIn) -> tuple[str, str]:
    return wanted.domain.strip().lower(), wanted.name.strip().lower()


def _tokens(context: Context, opened: Opened, *, in_a_browser: bool = False) -> Response:
    signer = context.keyring.token_signer()
    return _answer(tokens_of(signer, opened, _now(context), in_a_browser=in_a_browser))


def _person(asker: Seen, domain_time_zone: str | None) -> Person:
    viewer, session = asker.viewer, asker.session
    last = session.previous_login_at
    return Person(
        viewer.name,
        viewer.domain,
        viewer.role,
        sorted(viewer.client_ids),
        iso(to_ms(session.created_at)),
        iso(to_ms(last)) if last else None,
        asker.user.time_zone,
        asker.session.second_step_at is not None,
        domain_time_zone,
    )


def _answer(document: Any) -> Response:
    return Response(encode_json(document), media_type="application/json")


def _now(context: Context) -> datetime:
    return from_ms(context.clock.now_ms()).replace(tzinfo=UTC)
