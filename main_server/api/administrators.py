"""Dependencies that say who administers: by a program's certificate, or a person's session."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import Depends

from gatepost.service.api import allow
from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from main_server.api.context import Context, identify
from main_server.api.portal.messages import cross
from main_server.api.viewers import viewer_of
from main_server.messages.reading.scope import Asked
from main_server.people.administrator import Administrator, administrator_by, administrator_for
from main_server.people.users.viewer import Viewer


def by_certificate(context: Context) -> Any:
    """Return a dependency that gives who calls, if it is an administrator's program."""
    admin = allow(identify(context), Role.ADMIN)

    async def administrator(caller: Identity = admin) -> Administrator:
        return administrator_by(caller)

    return _from(Role.ADMIN, administrator)


def by_session(context: Context) -> Any:
    """Return a dependency that gives who asks by way of the portal, if it is an administrator."""
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)

    async def administrator(asker: Viewer = viewer) -> Administrator:
        return administrator_for(asker)

    return _from(Role.PORTAL, administrator)


def _from(role: Role, dependency: Callable[..., Awaitable[Administrator]]) -> Any:
    """Make a dependency that demands this role by itself, so that a route needs nothing beside
    it."""
    dependency.roles = (role,)  # type: ignore[attr-defined]
    return Depends(dependency)


async def note_look(
    context: Context,
    asker: Administrator,
    action: str,
    domain: str | None,
    details: Mapping[str, Any],
) -> None:
    """Note in the audit log that a person looks across the walls between domains."""
    if asker.viewer is not None:
        await cross(context, asker.viewer, action, Asked(domain), dict(details))
