"""Administrators of certificates and of those who hold them: a program with a certificate of the
role admin, or a person who has signed in at the portal.

Whoever is of a domain sees and changes that domain alone (I12): everything else is answered as if
it weren't there. A person of a domain has to do with its clients alone: what else we run, even for
that domain, is for those who look after the gateway.
"""

from dataclasses import dataclass

from gatepost.errors import BadOrder
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity, Role
from gatepost.wire.people import UserRole
from main_server.ca.revoked.repository import Selection
from main_server.people.users.viewer import Viewer


@dataclass(frozen=True, slots=True)
class Administrator:
    actor: str
    """The name by which the audit log calls them."""
    domain: str | None
    """The one domain that they have to do with; None for all of them."""
    role: Role | None = None
    """The one role whose certificates they have to do with; None for every role."""
    viewer: Viewer | None = None
    """The person; None for a program."""

    def selection(
        self, domain: str | None, role: Role | None = None, name: str | None = None
    ) -> Selection | None:
        """Return what a list is about for them; None if nothing of it is theirs."""
        if domain is not None and self.domain not in (None, domain):
            return None
        if role is not None and self.role not in (None, role):
            return None
        return Selection(domain=self.domain or domain, role=self.role or role, name=name)

    def check_proved(self) -> None:
        """Check that a person has shown a moment ago that it is them; a program has its
        certificate."""
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
