"""The portal's calls about passwords: to change one's own, to set one by a link."""

from datetime import UTC, datetime
from uuid import UUID

from fastapi import APIRouter, Request, Response

from gatepost.clock import from_ms
from gatepost.service.api import allow
from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import KnownBrowser, PasswordChange, Reset, ZoneChange
from main_server.api.bodies import read
from main_server.api.context import Context, identify
from main_server.api.portal.messages import answer
from main_server.api.portal.proving import check_present
from main_server.api.viewers import Seen, seen_by
from main_server.people.sessions import browsers
from main_server.people.sessions import service as sessions
from main_server.people.sessions.portals import serves
from main_server.people.sessions.service import Opened
from main_server.people.sessions.tokens import tokens_of
from main_server.people.users import links
from main_server.people.users import service as people
from main_server.people.users.guessing import check_password


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal")
    portal = allow(identify(context), Role.PORTAL)
    seen = seen_by(context)

    @router.post("/password", status_code=204)
    async def change_password(request: Request, asker: Seen = seen) -> Response:
        await _change(context, asker, await read(request, PasswordChange))
        return Response(status_code=204)

    @router.post("/time-zone")
    async def change_zone(request: Request, asker: Seen = seen) -> Response:
        """Change the asker's time zone. The answer is a token that says the new zone: the pages of
        this browser know it at once, those of others when their token is replaced."""
        wanted = await read(request, ZoneChange)
        zone = await context.ledger.run(people.set_time_zone, asker.user, wanted.time_zone)
        session_id = UUID(bytes=asker.session.session_id)
        still = Opened(session_id, asker.user, asker.viewer.client_ids, None, time_zone=zone)
        return answer(tokens_of(context.keyring.token_signer(), still, _now(context)))

    @router.post("/password/reset")
    async def reset_password(request: Request, caller: Identity = portal) -> Response:
        """Set a password by a link. Whoever has one is let in however many guess at this account:
        their browser is known."""
        wanted = await read(request, Reset)
        user = await context.ledger.run(links.whose, wanted.token, _now(context))
        if not serves(caller, user.domain):
            raise links.refused()
        check_password(wanted.new, user.domain, user.name)
        hashed = await context.passwords.hash(wanted.new)
        await context.ledger.run(links.set_password, wanted.token, hashed, _now(context))
        signer = context.keyring.token_signer()
        known = browsers.mint(signer, user.domain, user.name, _now(context))
        return answer(KnownBrowser(known, user.domain))

    return router


async def _change(context: Context, asker: Seen, wanted: PasswordChange) -> None:
    """Change a password and end all sessions, the one that asks too: it signs in again with the new
    password."""
    user = asker.user
    tried = await check_present(context, asker, wanted.current)
    await context.ledger.run(sessions.forgive, tried)
    check_password(wanted.new, user.domain, user.name)
    hashed = await context.passwords.hash(wanted.new)
    actor = asker.viewer.actor
    await context.ledger.run(people.set_password, user, hashed, _now(context), actor)


def _now(context: Context) -> datetime:
    return from_ms(context.clock.now_ms()).replace(tzinfo=UTC)
