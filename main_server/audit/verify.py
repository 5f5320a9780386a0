"""Walking the audit log's chain from its beginning: what doesn't hang together is told.

It reads in pieces, while entries are appended; only up to the head that it met when it began.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine

from main_server.audit import repository
from main_server.audit.chain import Head, Link
from main_server.database import transact

PIECE = 1000


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many entries there are, the head, and the first thing that is wrong with them."""

    entries: int
    head: Head
    fault: str | None


def verify(engine: Engine, noted: Head | None = None) -> Verdict:
    """`noted` is a head from before: it must still be in the chain."""
    head = transact(engine, repository.read_head)
    at, known = Head(0, bytes(32)), noted is None
    for link in _links(engine, head.seq):
        if fault := _fault(link, at):
            return Verdict(at.seq, head, fault)
        at = Head(link.seq, link.hash)
        known = known or at == noted
    if at != head:
        return Verdict(at.seq, head, f"the entries end at {at.seq}, the head says {head.seq}")
    if not known:
        return Verdict(at.seq, head, f"the head that was noted, {noted}, is not in it")
    return Verdict(at.seq, head, None)


def _fault(link: Link, before: Head) -> str | None:
    if link.seq != before.seq + 1:
        return f"entry {before.seq + 1} is missing"
    if link.previous != before.hash:
        return f"entry {link.seq} does not hang on the one before"
    if link.hash != link.expected_hash():
        return f"entry {link.seq} was changed"
    return None


def _links(engine: Engine, last: int) -> Iterator[Link]:
    at = 0
    while at < last:
        piece = transact(engine, partial(repository.list_links, after=at, limit=PIECE))
        wanted = [link for link in piece if link.seq <= last]
        if not wanted:
            return
        yield from wanted
        at = wanted[-1].seq
