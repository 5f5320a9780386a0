"""The viewer for whom a request is answered: a person, as the ledger knows them at this moment.

What a token says is not enough: roles change, people are disabled, sessions are ended.
"""

from dataclasses import dataclass

from gatepost.errors import GatepostError, PasswordWanted
from gatepost.wire.people import UserRole
from main_server.audit.names import actor_of

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
    proof_wanted: type[GatepostError] | None = PasswordWanted
    """The error for those who want to do what can't be taken back; None for a few minutes after
    they have shown that it is them."""

    @property
    def actor(self) -> str:
        """The name by which the audit log calls them."""
        return actor_of(self.domain, self.name)

    def check_proved(self) -> None:
        """Check that a person has shown that it is them, before what can't be taken back, or lets
        somebody in: a session alone may be stolen."""
        if self.proof_wanted is not None:
            raise self.proof_wanted()
