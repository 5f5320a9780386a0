"""The menu: the pages that a person is offered, and where among them they are. Pure."""

from dataclasses import dataclass

from gatepost.service.access_tokens import Claims
from gatepost.wire.people import UserRole


@dataclass(frozen=True, slots=True)
class Entry:
    address: str
    words: str
    for_users: bool = False
    """True if it is also for those who administer nothing."""
    also: tuple[str, ...] = ()
    """Pages that belong to it and are somewhere else."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An entry that is offered; `current` as aria-current has it: the page itself, one below it, or
    neither."""

    address: str
    words: str
    current: str | None


@dataclass(frozen=True, slots=True)
class Menu:
    entries: list[Offered]
    account: Offered
    """The entry behind their name."""


ENTRIES = (
    Entry("/overview", "Overview"),
    Entry("/messages", "Messages", for_users=True),
    Entry("/failed", "Failed messages"),
    Entry("/reports", "Reports"),
    Entry("/clients", "Clients", also=("/tokens",)),
    Entry("/certificates", "Certificates"),
    Entry("/users", "Users"),
    Entry("/domains", "Domains"),
    Entry("/audit", "Audit log"),
)


ACCOUNT = Entry("/account", "Account", for_users=True)


def menu_for(claims: Claims, path: str) -> Menu:
    administers = claims.role is not UserRole.USER
    offered = [_offer(one, path) for one in ENTRIES if administers or one.for_users]
    return Menu(offered, _offer(ACCOUNT, path))


def _offer(entry: Entry, path: str) -> Offered:
    below = any(path.startswith(f"{start}/") for start in (entry.address, *entry.also))
    below = below or path in entry.also
    current = "page" if path == entry.address else "true" if below else None
    return Offered(entry.address, entry.words, current)
