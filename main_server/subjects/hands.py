"""Whose hands a name may be in: its holder's, and those of whoever has made its certificates.

Who makes a certificate may have its key, and who renews somebody's has one in their name. Whoever
is at a shell of the CA can do all of that anyway, and doesn't count.
"""

from datetime import datetime

from sqlalchemy import Connection

from gatepost.errors import BadIdentity
from gatepost.identity import Identity, parse_uri
from main_server.subjects import repository

_OURS = "gatepost://"


def hands_of(connection: Connection, actor: str, since: datetime) -> set[str]:
    """By the certificates that were good at this time, or later; those of their makers, too."""
    found, following = set[str](), {actor}
    while following:
        one = following.pop()
        found.add(one)
        if (holder := _holder(one)) is not None:
            makers = repository.list_makers(connection, holder, since)
            following |= {maker for maker in makers if maker.startswith(_OURS)} - found
    return found


def _holder(actor: str) -> Identity | None:
    """A person has no certificate."""
    try:
        return parse_uri(actor)
    except BadIdentity:
        return None
