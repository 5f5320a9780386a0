"""Queues: which there are, whose they are, and which of them somebody means."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine

from gatepost.cli.words import plural
from gatepost.errors import Invalid, NotFound
from main_server.messages.queues.repository import waits_in
from main_server.store.database import transact
from main_server.tenants.domains import repository as tenants
from main_server.tenants.names import check_names
from main_server.tenants.pauses.repository import What, find, list_pauses


@dataclass(frozen=True, slots=True)
class Known:
    """A queue, and the domains whose messages wait there. Nothing more comes to one that was
    `left`: its domain has another one now."""

    name: str
    domains: tuple[str, ...] = ()
    left: bool = False

    @property
    def domain(self) -> str | None:
        """The domain that has the queue alone, if one does."""
        return self.domains[0] if len(self.domains) == 1 else None


def list_known(engine: Engine, default: str) -> list[Known]:
    return transact(engine, lambda connection: known_now(connection, default))


def known_now(connection: Connection, default: str) -> list[Known]:
    """List all queues, those too that are paused and that nobody has any more: a pause must be
    found again."""
    domains = tenants.list_domains(connection)
    sharing = tuple(one.domain for one in domains if one.queue is None)
    own = [Known(one.queue, (one.domain,)) for one in domains if one.queue is not None]
    former = [Known(q, (domain,), True) for q, domain in tenants.list_former_queues(connection)]
    known = [Known(default, sharing), *own, *former]
    paused = {one.name for one in list_pauses(connection, What.QUEUE)}
    return known + [Known(name) for name in sorted(paused - {one.name for one in known})]


def to_pause(connection: Connection, default: str, name: str) -> list[Known]:
    """Return what is `meant`, where nothing more of that is to be delivered. Raise Invalid where a
    domain's messages wait as well in the queue that it shared before: that isn't its alone."""
    found = meant(known_now(connection, default), name)
    names = {one.name for one in found}
    if name in names or default in names or find(connection, What.QUEUE, default) is not None:
        return found
    if waits_in(connection, default, name):
        raise Invalid(
            f"Messages of {name} still wait in the queue {default}, which it shared before: they"
            f" would be delivered. Wait until they are, or pause {default} first: then messages of"
            " all who share it wait as well."
        )
    return found


def meant(known: Sequence[Known], name: str) -> list[Known]:
    """Return the queue of that name, or all that are this domain's. Raise NotFound, or Invalid
    where what is meant is others' as well."""
    if exact := [one for one in known if one.name == name]:
        return exact
    found = [one for one in known if name in one.domains]
    if not found:
        raise NotFound(f"There is neither a queue nor a domain called {name}.")
    for one in found:
        if others := len(one.domains) - 1:
            raise Invalid(
                f"{name} shares the queue {one.name} with {plural(others, 'other domain')}, whose"
                f" messages would wait as well. Name the queue if you mean that: {one.name}."
            )
    return found


def checked_client(client: str | None) -> str | None:
    """Check a client's id; raise Invalid where nobody can be called that."""
    if client is None:
        return None
    domain, _, name = client.rpartition(":")
    if not domain:
        raise Invalid("A client is called DOMAIN:NAME.")
    check_names(domain, name)
    return client
