"""The messages that a person sees (I12): a user those of their clients, an administrator their
domain's, a super-administrator everybody's. Pure; what is outside is answered as what isn't
there."""

from collections.abc import Sequence
from dataclasses import dataclass

from main_server.people.users.viewer import UserRole, Viewer


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of everything that somebody asks for."""

    domain: str | None = None
    client_id: str | None = None


def may_see(viewer: Viewer, client_id: str, domain: str) -> bool:
    match viewer.role:
        case UserRole.SUPER_ADMIN:
            return True
        case UserRole.ADMIN:
            return domain == viewer.domain
        case _:
            return domain == viewer.domain and client_id in viewer.client_ids


def is_own(viewer: Viewer, client_id: str) -> bool:
    """Tell whether a message is the viewer's own, not merely one that they administer."""
    return client_id in viewer.client_ids


def domain_within(viewer: Viewer, asked: Asked) -> str | None:
    """Return the one domain that an answer is about; None for all of them, which only a super-admin
    has.

    What is asked for can narrow what somebody sees, and never widen it.
    """
    return asked.domain if viewer.role is UserRole.SUPER_ADMIN else viewer.domain


def clients_within(
    viewer: Viewer, asked: Asked, of_domain: Sequence[str] | None
) -> list[str] | None:
    """Return the clients that an answer is about; None for all. `of_domain` are those of the domain
    that it is about, where there is one."""
    if viewer.role is not UserRole.SUPER_ADMIN and asked.domain not in (None, viewer.domain):
        return []
    if of_domain is None:
        return None if asked.client_id is None else [asked.client_id]
    seen = [one for one in of_domain if may_see(viewer, one, domain_within(viewer, asked) or "")]
    return [one for one in seen if asked.client_id in (None, one)]
