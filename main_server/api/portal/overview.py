"""The portal's call about how the place does, for an administrator."""

from datetime import datetime, timedelta

from fastapi import APIRouter, Response

from main_server.api.context import Context
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.viewers import viewer_of
from main_server.health.overview.viewing import overview_for
from main_server.messages.reading.scope import Asked
from main_server.people.users.viewer import UserRole, Viewer

NOTED_FOR = timedelta(hours=1)


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/overview")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)
    noted: dict[str, datetime] = {}

    @router.get("")
    async def show(asker: Viewer = viewer) -> Response:
        """Show the overview. It is asked for every other second, so that somebody looks is noted
        once an hour."""
        now = now_of(context)
        if noted.get(asker.user_id, now - NOTED_FOR) <= now - NOTED_FOR:
            await cross(context, asker, "overview.seen", Asked(), {})
            noted[asker.user_id] = now
        return answer(overview_for(asker, context.overview.snapshot()))

    return router
