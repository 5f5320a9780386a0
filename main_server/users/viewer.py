"""For whom a request is answered: a person, as the ledger knows them at this moment.

What a token says is not enough: roles change, people are disabled, sessions are ended.
"""

from dataclasses import dataclass

from gatepost.people import UserRole
from main_server.users.names import actor_of

__all__ = ["UserRole", "Viewer"]


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person who has signed in. A user sees the messages of their clients, an administrator
    their domain's, a super-administrator everybody's (I12)."""

    user_id: str
    name: str
    role: UserRole
    domain: str
    client_ids: frozenset[str] = frozenset()

    @property
    def actor(self) -> str:
        """Whom the audit log names."""
        return actor_of(self.domain, self.name)
