"""A report for a data subject: all that we have under their number.

One administrator asks, another one approves, and whoever has asked fetches it, page by page. What
is kept meanwhile finds their messages and can't tell the number; it is forgotten when it is over.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from uuid import UUID, uuid4

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import AnotherNeeded, CannotOpen, KeysUnavailable, NotFound, NotYet
from gatepost.ids import first_id_at
from gatepost.wire.content import Content
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.keys.service import Keyring
from main_server.messages.reading.opening import open_sealed
from main_server.messages.subjects import repository
from main_server.messages.subjects.hands import hands_of
from main_server.messages.subjects.repository import Reach, Report, Row
from main_server.people.administrator import Administrator
from main_server.store.database import transact
from main_server.tenants.domains.repository import list_domains

LASTS = timedelta(hours=24)
LASTS_WHEN_FETCHED = timedelta(hours=1)
"""The time for which the last page can be fetched again, in case it was lost on its way."""
PAGE = 100
NONE = "There is no such report, or it is over: they last for a day."
_NOT_OWN = "Nobody approves their own report: another administrator has to."
_ONE_HAND = (
    "The certificates of who asks and of who approves were made by one administrator, who could be"
    " both. An administrator has to approve who was given theirs by another, or at the CA's shell."
)
_NOT_ASKED = "Only the administrator who asked for a report gets it."
_NOT_APPROVED = "Another administrator has to approve this report first."


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a report. `after` is where the next one begins, if there is one; a content is None
    where nobody can read it any more."""

    report: Report
    messages: list[tuple[Row, Content | None]]
    after: bytes | None


def ask(
    engine: Engine, keyring: Keyring, number: str, asker: Administrator, now: datetime
) -> Report:
    """Ask for a report of what there is now, in all domains that the administrator has to do
    with."""
    if keyring.problem:
        raise KeysUnavailable(f"Messages could be missing in a report: {keyring.problem}.")
    report_id, moment = uuid4().bytes, from_ms(to_ms(now))

    def work(connection: Connection) -> Report:
        there = repository.find(connection, report_id, asker.domain, moment)
        if there is not None:
            return there  # an earlier try was committed after all
        whose = {
            mac: domain
            for domain in _domains_of(connection, asker)
            for _, mac in keyring.number_hashes(domain, number)
        }
        macs, counts = list(whose), Counter[str]()
        for mac, count in repository.count(connection, _reach(macs, asker.domain, moment)).items():
            counts[whose[mac]] += count
        report = Report(
            report_id, asker.domain, asker.actor, moment, moment + LASTS, None, macs, counts
        )
        repository.add(connection, report)
        _note(connection, asker, "subject.asked", report, now)
        return report

    return transact(engine, work)


def list_open(engine: Engine, asker: Administrator, now: datetime) -> list[Report]:
    moment = from_ms(to_ms(now))
    return transact(engine, lambda c: repository.list_open(c, asker.domain, moment))


def approve(engine: Engine, report_id: UUID, approver: Administrator, now: datetime) -> Report:
    """Approve a report. Raise NotFound for one that the approver has nothing to do with, and
    AnotherNeeded for their own. Whose it is goes by the name in a certificate, so that a second one
    of the same name is of no use; and one of another name that the same hand has made is none
    either."""

    def work(connection: Connection) -> Report:
        report = _find(connection, report_id, approver, now)
        if report.asked_by == approver.actor:
            raise AnotherNeeded(_NOT_OWN)
        both = (report.asked_by, approver.actor)
        if set.intersection(*(hands_of(connection, one, report.asked_at) for one in both)):
            raise AnotherNeeded(_ONE_HAND)
        if report.approved_by is None:
            repository.change(connection, report.report_id, approved_by=approver.actor)
            _note(connection, approver, "subject.approved", report, now)
        return _find(connection, report_id, approver, now)

    return transact(engine, work)


def fetch(
    engine: Engine,
    keyring: Keyring,
    report_id: UUID,
    asker: Administrator,
    after: UUID | None,
    now: datetime,
) -> Page:
    """Return a page of a report. What it holds is in the audit log before any of it is opened
    (I7)."""

    def work(connection: Connection) -> tuple[Report, list[Row], bytes | None]:
        report = _find(connection, report_id, asker, now)
        if report.asked_by != asker.actor:
            raise AnotherNeeded(_NOT_ASKED)
        if report.approved_by is None:
            raise NotYet(_NOT_APPROVED)
        reach = _reach(report.macs, report.domain, report.asked_at)
        first = after.bytes if after else bytes(16)
        rows = repository.list_rows(connection, reach, first, PAGE + 1)
        if len(rows) <= PAGE:
            until = min(report.expires_at, from_ms(to_ms(now)) + LASTS_WHEN_FETCHED)
            repository.change(connection, report.report_id, expires_at=until)
        for domain, ids in _by_domain(report, rows[:PAGE]):
            details = {"approved_by": report.approved_by, "message_ids": ids}
            entry = Entry(asker.actor, "subject.reported", str(report_id), domain, details)
            audit.append(connection, entry, now)
        return report, rows[:PAGE], rows[PAGE - 1].message_id if len(rows) > PAGE else None

    report, rows, following = transact(engine, work)
    return Page(report, [(row, _open(engine, keyring, row)) for row in rows], following)


def forget_expired(engine: Engine, now: datetime) -> int:
    return transact(engine, lambda connection: repository.delete_expired(connection, now))


def _find(connection: Connection, report_id: UUID, asker: Administrator, now: datetime) -> Report:
    """Find a report, and lock it: of two who approve at once, one does."""
    moment = from_ms(to_ms(now))
    found = repository.find(connection, report_id.bytes, asker.domain, moment, lock=True)
    if found is None:
        raise NotFound(NONE)
    return found


def _domains_of(connection: Connection, asker: Administrator) -> list[str]:
    if asker.domain is not None:
        return [asker.domain]
    return [one.domain for one in list_domains(connection)]


def _reach(macs: Sequence[bytes], domain: str | None, asked_at: datetime) -> Reach:
    return Reach(macs, domain, first_id_at(to_ms(asked_at)))


def _by_domain(report: Report, rows: Sequence[Row]) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the ids of each domain, for an entry of the audit log each: each sees its own (I12). A
    page without a message is noted, too."""
    if not rows:
        yield report.domain, []
    ordered = sorted(rows, key=lambda row: (row.domain, row.message_id))
    for domain, group in groupby(ordered, key=lambda row: row.domain):
        yield domain, [str(UUID(bytes=row.message_id)) for row in group]


def _open(engine: Engine, keyring: Keyring, row: Row) -> Content | None:
    """Open a message; None if nobody can read it any more. A key that can't be had just now is no
    reason to leave a message out: then all is refused."""
    try:
        return open_sealed(engine, keyring, UUID(bytes=row.message_id), row)
    except CannotOpen:
        return None


def _note(
    connection: Connection, who: Administrator, action: str, report: Report, now: datetime
) -> None:
    details = {"asked_by": report.asked_by, "messages": dict(report.counts)}
    entry = Entry(who.actor, action, str(UUID(bytes=report.report_id)), report.domain, details)
    audit.append(connection, entry, now)
