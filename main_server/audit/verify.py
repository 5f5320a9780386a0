"""The walk along the audit log's chain from its beginning: what doesn't hang together is told.

It reads in pieces, while entries are appended; only up to the head that it met when it began.
`verify` does it in one go, for a shell; `main_server.audit.checking` in turns, for the portal.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine

from main_server.audit import repository
from main_server.audit.chain import Head, Link
from main_server.store.database import transact

PIECE = 1000
START = Head(0, bytes(32))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The number of entries, the head, and the first thing that is wrong with them."""

    entries: int
    head: Head
    fault: str | None


@dataclass(frozen=True, slots=True)
class Followed:
    """The entries that hang together, and what is wrong with the one after that."""

    links: list[Link]
    fault: str | None


def verify(engine: Engine, noted: Head | None = None) -> Verdict:
    """Verify the whole chain; `noted` is a head from before: it must still be in the chain."""
    head = transact(engine, repository.read_head)
    at, known = START, noted in (None, START)
    for piece in _pieces(engine, head.seq):
        followed = follow(piece, at)
        for link in followed.links:
            at = Head(link.seq, link.hash)
            known = known or at == noted
        if followed.fault:
            return Verdict(at.seq, head, followed.fault)
    if fault := ends_before(at, head):
        return Verdict(at.seq, head, fault)
    if not known:
        return Verdict(at.seq, head, f"the head that was noted, {noted}, is not in it")
    return Verdict(at.seq, head, None)


def follow(links: Iterable[Link], at: Head) -> Followed:
    """Follow the chain from the entry after `at` on. Pure."""
    good: list[Link] = []
    for link in links:
        if fault := _fault(link, at):
            return Followed(good, fault)
        good.append(link)
        at = Head(link.seq, link.hash)
    return Followed(good, None)


def ends_before(at: Head, head: Head) -> str | None:
    """Return what is wrong if there is nothing more after `at`."""
    return None if at == head else f"the entries end at {at.seq}, the head says {head.seq}"


def _fault(link: Link, before: Head) -> str | None:
    if link.seq != before.seq + 1:
        return f"entry {before.seq + 1} is missing"
    if link.previous != before.hash:
        return f"entry {link.seq} does not hang on the one before"
    if link.hash != link.expected_hash():
        return f"entry {link.seq} was changed"
    return None


def _pieces(engine: Engine, last: int) -> Iterator[list[Link]]:
    at = 0
    while at < last:
        read = partial(repository.list_links, after=at, up_to=last, limit=PIECE)
        piece = transact(engine, read)
        if not piece:
            return
        yield piece
        at = piece[-1].seq
