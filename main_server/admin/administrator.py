"""Who administers certificates and those who hold them: a program with a certificate of the role
admin, or a person who has signed in at the portal.

Whoever is of a domain sees and changes that domain alone (I12): everything else is answered as what
isn't there. A person of a domain has to do with its clients alone: what else we run, even for that
domain, is for those who look after the gateway.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Depends

from gatepost.errors import BadOrder
from gatepost.identity import INFRASTRUCTURE_DOMAIN, Identity, Role
from gatepost.people import UserRole
from gatepost.service.api import allow
from main_server.ca.revoked.repository import Selection
from main_server.context import Context, identify
from main_server.reading.endpoints import cross
from main_server.reading.scope import Asked
from main_server.sessions.viewing import viewer_of
from main_server.users.viewer import Viewer


@dataclass(frozen=True, slots=True)
class Administrator:
    actor: str
    """Whom the audit log names."""
    domain: str | None
    """The one domain that they have to do with; None for all of them."""
    role: Role | None = None
    """The one role whose certificates they have to do with; None for every role."""
    viewer: Viewer | None = None
    """Who it is, if it is a person."""

    def selection(
        self, domain: str | None, role: Role | None = None, name: str | None = None
    ) -> Selection | None:
        """What a list is about; None if nothing of it is theirs."""
        if domain is not None and self.domain not in (None, domain):
            return None
        if role is not None and self.role not in (None, role):
            return None
        return Selection(domain=self.domain or domain, role=self.role or role, name=name)

    def check_proved(self) -> None:
        """A person has shown a moment ago that it is them; a program has its certificate."""
        if self.viewer is not None:
            self.viewer.check_proved()

    def check_gives(self, role: Role) -> None:
        if self.domain is not None and role is not Role.CLIENT:
            raise BadOrder("An administrator of a domain issues to its clients.")


def administrator_by(caller: Identity) -> Administrator:
    confined = caller.domain != INFRASTRUCTURE_DOMAIN
    return Administrator(caller.uri, caller.domain if confined else None)


def administrator_for(viewer: Viewer) -> Administrator:
    if viewer.role is UserRole.SUPER_ADMIN:
        return Administrator(viewer.actor, None, viewer=viewer)
    return Administrator(viewer.actor, viewer.domain, Role.CLIENT, viewer)


def by_certificate(context: Context) -> Any:
    """A dependency: who calls, if it is an administrator's program."""
    admin = allow(identify(context), Role.ADMIN)

    async def administrator(caller: Identity = admin) -> Administrator:
        return administrator_by(caller)

    return _from(Role.ADMIN, administrator)


def by_session(context: Context) -> Any:
    """A dependency: who asks by way of the portal, if it is an administrator."""
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)

    async def administrator(asker: Viewer = viewer) -> Administrator:
        return administrator_for(asker)

    return _from(Role.PORTAL, administrator)


def _from(role: Role, dependency: Callable[..., Awaitable[Administrator]]) -> Any:
    """It demands that role by itself, so a route needs nothing beside it."""
    dependency.roles = (role,)  # type: ignore[attr-defined]
    return Depends(dependency)


async def note_look(
    context: Context,
    asker: Administrator,
    action: str,
    domain: str | None,
    details: Mapping[str, Any],
) -> None:
    """A person who looks across the walls between domains is in the audit log."""
    if asker.viewer is not None:
        await cross(context, asker.viewer, action, Asked(domain), dict(details))
