"""Checks of the whole chain in the background: a piece at a turn, by whichever main server is
there.

A log may have millions of entries, and nobody waits for an answer so long: how far a check has come
is in the ledger. It always begins at the first entry, so that what was changed long ago is found.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.ids import MessageIds
from main_server.audit import check_repository as repository
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry, Head
from main_server.audit.check_repository import Check
from main_server.audit.verify import PIECE, START, Followed, ends_before, follow
from main_server.store.database import transact

PAUSE = timedelta(milliseconds=100)
"""The time between two turns: ten thousand entries a second, beside all else that a main server
does."""
BY_ITSELF = timedelta(days=1)
SUBJECT = "audit log"

_ids = MessageIds(Clock())


def start(engine: Engine, actor: str, now: datetime) -> Check:
    """Start a check, which the main servers do from here on; while one runs, return that: there is
    no second one."""
    check_id, moment = _ids.new().bytes, from_ms(to_ms(now))

    def work(connection: Connection) -> Check:
        audit.read_head(connection, lock=True)  # if two start at once, one waits here
        running = repository.find_running(connection)
        if running is not None:
            return running
        head = audit.append(connection, Entry(actor, "audit.check_started", SUBJECT), now)
        check = Check(
            check_id,
            state="running",
            actor=actor,
            created_at=moment,
            next_at=moment,
            head_seq=head.seq,
            head_hash=head.hash,
            seq=START.seq,
            hash=START.hash,
        )
        repository.add(connection, check)
        return check

    return transact(engine, work)


def start_if_due(engine: Engine, now: datetime) -> Check | None:
    """Start a check once a day, so that nobody has to ask for it."""
    last = latest(engine)
    moment = from_ms(to_ms(now))
    if last is not None and (last.ended_at is None or last.ended_at > moment - BY_ITSELF):
        return None
    return start(engine, SYSTEM, now)


def latest(engine: Engine) -> Check | None:
    return transact(engine, repository.find_latest)


def take_turn(engine: Engine, now: datetime) -> Check | None:
    """Do a piece of one check, in one transaction; return None if none is due."""
    return transact(engine, lambda connection: _take_turn(connection, now))


def _take_turn(connection: Connection, now: datetime) -> Check | None:
    moment = from_ms(to_ms(now))
    check = repository.lock_due(connection, moment)
    if check is None:
        return None
    piece = audit.list_links(connection, check.seq, check.head_seq, PIECE)
    followed = follow(piece, check.at)
    at, up_to = check.at, check.up_to
    if followed.links:
        last = followed.links[-1]
        at, up_to = Head(last.seq, last.hash), last.at
    state, fault = _decide(check, at, followed, whole_piece=len(piece) == PIECE)
    values = {"seq": at.seq, "hash": at.hash, "up_to": up_to, "state": state, "fault": fault}
    ended_at = None if state == "running" else moment
    next_at = from_ms(to_ms(now + PAUSE))
    repository.go_on(connection, check, **values, next_at=next_at, ended_at=ended_at)
    if ended_at is not None:
        details = {"state": state, "entries": at.seq, "head": str(check.head), "fault": fault}
        audit.append(
            connection, Entry(check.actor, "audit.check_ended", SUBJECT, None, details), now
        )
    said = {name: getattr(check, name) for name in Check.__slots__}
    return Check(**(said | values | {"next_at": next_at, "ended_at": ended_at}))


def _decide(
    check: Check, at: Head, followed: Followed, *, whole_piece: bool
) -> tuple[str, str | None]:
    """Decide what a check has come to. Pure."""
    if followed.fault:
        return "broken", followed.fault
    if at.seq < check.head_seq and whole_piece:
        return "running", None
    fault = ends_before(at, check.head)
    return ("broken", fault) if fault else ("whole", None)
