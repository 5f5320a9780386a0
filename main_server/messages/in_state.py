"""Rows in one state, client by client: for whoever goes over all of them, a part at a time.

Nothing orders the messages of different clients. Client by client, no other's are read on the way,
and those of a domain lie beside each other.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select

from main_server.store.tables import messages

_c = messages.c


@dataclass(frozen=True, slots=True)
class Place:
    """The place to which somebody has come: up to this id of this client."""

    client_id: str = ""
    message_id: bytes = bytes(16)


START = Place()


def rows_after(
    connection: Connection, query: Select[Any], status: str, place: Place, limit: int
) -> list[Any]:
    """Return the following rows in this state that the query selects."""
    query = along_states(query, status)
    same = query.where(_c.client_id == place.client_id, _c.message_id > place.message_id)
    found = list(connection.execute(same.order_by(_c.message_id).limit(limit)))
    if len(found) < limit:
        following = query.where(_c.client_id > place.client_id)
        following = following.order_by(_c.client_id, _c.message_id).limit(limit - len(found))
        found += connection.execute(following)
    return found


def along_states(query: Select[Any], status: str) -> Select[Any]:
    return query.with_hint(messages, "FORCE INDEX (ix_messages_status)").where(_c.status == status)


def in_domain(domain: str) -> ColumnElement[bool]:
    """Return the condition for the clients of a domain, as a range of the index: their ids are
    `domain:name`."""
    return (_c.client_id > f"{domain}:") & (_c.client_id < f"{domain};")
