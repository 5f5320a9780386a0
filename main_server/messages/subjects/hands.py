"""The hands that a name may be in: its holder's, and those of whoever has made its certificates, or
a link for its password.

Whoever makes a certificate may have its key, and whoever renews somebody's has one in their name.
Whoever has made a link for somebody's password may have used it: then it was they who certified in
that name. Whoever is at a shell of the CA can do all of that anyway, and doesn't count.
"""

from datetime import datetime

from sqlalchemy import Connection

from gatepost.errors import BadIdentity
from gatepost.trust.identity import parse_uri
from main_server.messages.subjects import repository

_OURS = "gatepost://"


def hands_of(connection: Connection, actor: str, since: datetime) -> set[str]:
    """Return the hands that a name may be in, by the certificates that were good at this time, or
    later; those of their makers, too."""
    found, following = set[str](), {actor}
    while following:
        one = following.pop()
        found.add(one)
        makers = _makers_of(connection, one, since)
        following |= {maker for maker in makers if maker.startswith(_OURS)} - found
    return found


def _makers_of(connection: Connection, actor: str, since: datetime) -> set[str]:
    """Return who has made somebody's certificates, or links: a person has no certificate, and a
    password since some link, however old."""
    try:
        return repository.list_makers(connection, parse_uri(actor), since)
    except BadIdentity:
        domain = actor.removeprefix(_OURS).partition("/")[0]
        return repository.list_link_makers(connection, actor, domain)
