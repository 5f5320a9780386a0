"""End somebody's sessions, and with them the links for passwords and the tokens to enrol with that
they have made.

Whoever was here in their place leaves nothing behind by which to come back.
"""

from datetime import datetime

from sqlalchemy import Connection

from main_server.audit.names import actor_of
from main_server.ca.token_repository import withdraw_made_by
from main_server.people.users import repository
from main_server.people.users.repository import User


def end_sessions(connection: Connection, user: User, now: datetime) -> dict[str, object]:
    """End all sessions of a person, and return what is to be in the audit log."""
    repository.end_sessions(connection, user.user_id)
    withdrawn = withdraw_made_by(connection, [actor_of(user.domain, user.name)], now)
    return {"tokens_withdrawn": withdrawn} if withdrawn else {}
