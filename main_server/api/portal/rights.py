"""The portal's calls about one person, for administrators: to look at them, to change their rights.

Nobody gives more than they have: an administrator knows users and administrators of their domain,
and its clients. And nobody changes what they may do themselves, neither by accident nor to open
messages as their own client's.
"""

from uuid import UUID

from fastapi import APIRouter, Request, Response

from gatepost.errors import Invalid
from gatepost.service.requests import context_of
from gatepost.wire.people import RightsChange, UserRole
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.portal.people import account_of, find
from main_server.api.viewers import viewer_of
from main_server.audit.names import client_ids_of
from main_server.messages.reading.scope import Asked
from main_server.people.users import service
from main_server.people.users.service import Rights
from main_server.people.users.viewer import Viewer
from main_server.store.database import transact


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/users")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)

    @router.get("/{user_id}")
    async def show(user_id: UUID, asker: Viewer = viewer) -> Response:
        found = await find(context, asker, user_id)
        await cross(context, asker, "user.seen", Asked(found.domain), {"user": found.name})
        return answer(await context.ledger.run(transact, lambda c: account_of(c, found)))

    @router.post("/{user_id}/rights", status_code=204)
    async def change_rights(request: Request, user_id: UUID, asker: Viewer = viewer) -> Response:
        asker.check_proved()
        found = await find(context, asker, user_id)
        wanted = await read(request, RightsChange)
        if str(user_id) == asker.user_id:
            raise Invalid("You can't change your own rights. Ask another administrator.")
        rights = Rights(wanted.role, client_ids_of(found.domain, wanted.client_ids))
        await context.ledger.run(service.change_rights, found, rights, now_of(context), asker.actor)
        context_of(request.scope).event = "user.rights_changed"
        return Response(status_code=204)

    return router
