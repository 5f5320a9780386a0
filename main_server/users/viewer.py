"""For whom a request is answered: a person, as the ledger knows them at this moment.

What a token says is not enough: roles change, people are disabled, sessions are ended.
"""

from dataclasses import dataclass
from enum import StrEnum


class UserRole(StrEnum):
    USER = "user"
    ADMIN = "admin"
    SUPER_ADMIN = "super-admin"


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person who has signed in. A user sees the messages of their clients, an administrator
    their domain's, a super-administrator everybody's (I12)."""

    user_id: str
    name: str
    role: UserRole
    domain: str
    client_ids: frozenset[str] = frozenset()
