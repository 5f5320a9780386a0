"""SQL for what is paused by hand."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, delete, insert, select

from main_server.store.tables import pauses

_p = pauses.c
EVERYWHERE = "*"
"""The name in place of a domain's where intake is paused for all of them."""


class What(StrEnum):
    QUEUE = "queue"
    INTAKE = "intake"


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause by hand; `name` is a queue's whole name, or a domain's."""

    what: str
    name: str
    reason: str
    actor: str
    since: datetime


def add(connection: Connection, pause: Pause) -> None:
    values = {name: getattr(pause, name) for name in Pause.__slots__}
    connection.execute(insert(pauses).values(values))


def remove(connection: Connection, what: What, name: str) -> None:
    connection.execute(delete(pauses).where(_p.what == what.value, _p.name == name))


def find(connection: Connection, what: What, name: str, *, lock: bool = False) -> Pause | None:
    query = select(*(_p[one] for one in Pause.__slots__))
    query = query.where(_p.what == what.value, _p.name == name)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Pause(*row) if row else None


def list_pauses(connection: Connection, what: What | None = None) -> list[Pause]:
    query = select(*(_p[one] for one in Pause.__slots__)).order_by(_p.what, _p.name)
    if what is not None:
        query = query.where(_p.what == what.value)
    return [Pause(*row) for row in connection.execute(query)]
