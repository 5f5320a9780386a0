"""What the portal asks about passwords: to change one's own, to set one by a link."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from gatepost.clock import from_ms
from gatepost.errors import Invalid
from gatepost.identity import Role
from gatepost.people import PasswordChange, Reset
from gatepost.service.api import allow
from main_server.admin.bodies import read
from main_server.context import Context, identify
from main_server.sessions import service as sessions
from main_server.sessions.viewing import Seen, seen_by
from main_server.users import links
from main_server.users import service as people
from main_server.users.passwords import check_password


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal")
    portal = allow(identify(context), Role.PORTAL)
    seen = seen_by(context)

    @router.post("/password", status_code=204)
    async def change_password(request: Request, asker: Seen = seen) -> Response:
        await _change(context, asker, await read(request, PasswordChange))
        return Response(status_code=204)

    @router.post("/password/reset", dependencies=[portal], status_code=204)
    async def reset_password(request: Request) -> Response:
        wanted = await read(request, Reset)
        user = await context.ledger.run(links.whose, wanted.token, _now(context))
        check_password(wanted.new, user.name)
        hashed = await context.passwords.hash(wanted.new)
        await context.ledger.run(links.set_password, wanted.token, hashed, _now(context))
        return Response(status_code=204)

    return router


async def _change(context: Context, asker: Seen, wanted: PasswordChange) -> None:
    """Ends all sessions, the one that asks too: it signs in again with the new password."""
    user, now = asker.user, _now(context)
    address = f"session {asker.session.session_id.hex()}"
    tried = await context.ledger.run(sessions.begin_try, user.domain, user.name, address, now)
    if not await context.passwords.is_right(user.password_hash, wanted.current):
        raise Invalid("Your present password is another one.")
    check_password(wanted.new, user.name)
    hashed = await context.passwords.hash(wanted.new)
    actor = asker.viewer.actor
    await context.ledger.run(people.set_password, user, hashed, _now(context), actor)
    await context.ledger.run(sessions.forgive, tried)


def _now(context: Context) -> datetime:
    return from_ms(context.clock.now_ms()).replace(tzinfo=UTC)
