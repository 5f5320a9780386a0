"""Looking through the audit log: all that fits, page by page, and how little is looked at."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, text

from main_server.audit import search as module
from main_server.audit.list_repository import Filters, Times, list_domains, walk
from main_server.audit.search import EVER, LOOKED_AT, PAGE, Page, Query, entries, search
from main_server.store.database import transact
from tests.integration.main_server.audit.logs import put

NOW = datetime(2026, 11, 18, 12)
DOMAINS = ["a.example", "b.example", "c.example", None]
ACTORS, ACTIONS, SUBJECTS = ["ann", "bob"], ["user.created", "user.enabled"], ["x", "y", "z"]
FEW_DAYS = Times(NOW + timedelta(milliseconds=3), NOW + timedelta(milliseconds=9))


def some(count: int, chance: random.Random) -> list[dict[str, Any]]:
    """Many of the same time, and not all in order: clocks differ."""
    return [
        {
            "at": NOW + timedelta(milliseconds=n // 12 + chance.choice([0, 0, 0, 1, -2])),
            "domain": chance.choice(DOMAINS),
            "actor": chance.choice(ACTORS),
            "action": chance.choice(ACTIONS),
            "subject": chance.choice(SUBJECTS),
        }
        for n in range(count)
    ]


def expected(rows: list[dict[str, Any]], query: Query) -> list[int]:
    fitting = [
        (row["at"], seq)
        for seq, row in enumerate(rows, 1)
        if query.domain in (None, row["domain"])
        and query.times.first <= row["at"] < query.times.end
        and all(row[name] == getattr(query.filters, name) for name in query.filters.given)
    ]
    return [seq for _, seq in sorted(fitting, reverse=True)]


@pytest.mark.parametrize("times", [EVER, FEW_DAYS])
@pytest.mark.parametrize("domain", [None, "b.example", "nowhere.example"])
def test_pages_leave_nothing_out_and_repeat_nothing(
    log: Engine, monkeypatch: pytest.MonkeyPatch, domain: str | None, times: Times
) -> None:
    """Whatever is looked for, however little a page may hold or look at."""
    rows = some(150, random.Random(7))
    put(log, rows)
    monkeypatch.setattr(module, "PAGE", 4)
    monkeypatch.setattr(module, "LOOKED_AT", 6)
    for filters in (
        Filters(),
        Filters(actor="ann"),
        Filters(action="user.enabled"),
        Filters(subject="z"),
        Filters(actor="bob", action="user.created"),
        Filters("ann", "user.enabled", "x"),
        Filters(actor="nobody"),
    ):
        query = Query(domain, filters, times)
        assert [one.seq for one in entries(log, query)] == expected(rows, query), filters


def test_what_joins_the_log_meanwhile_disturbs_no_page(log: Engine) -> None:
    rows = some(120, random.Random(8))
    put(log, rows)
    first = search(log, Query())
    assert (len(first.links), first.full) == (PAGE, True)
    after = [{"seq": 1000 + n, "at": NOW + timedelta(days=1)} for n in range(60)]
    put(log, after)
    rest = [one.seq for one in entries(log, Query(before=first.before))]
    assert [one.seq for one in first.links] + rest == expected(rows, Query())


def test_a_place_does_not_tell_how_much_others_do(log: Engine) -> None:
    """The same entries of a domain, in a log in which others have done much or nothing (I12)."""
    mine = [{"at": NOW, "domain": "a.example", "seq": n} for n in range(1, 61)]
    theirs = [{"at": NOW, "domain": "b.example", "seq": 1000 + n} for n in range(500)]
    put(log, mine)
    alone = search(log, Query("a.example"))
    put(log, theirs)
    assert search(log, Query("a.example")) == alone
    assert alone.before is not None
    assert alone.before.passed == PAGE


STATEMENTS: dict[str, Callable[[Connection, Filters], object]] = {
    "walk": lambda c, filters: walk(c, "d3.example", filters, Times(NOW, EVER.end), PAGE),
    "walk of no domain": lambda c, filters: walk(c, None, filters, Times(NOW, EVER.end), PAGE),
    "list_domains": lambda c, filters: list_domains(c, filters, Times(NOW, EVER.end)),
}
INDEXES = {
    "ix_audit_log_domain": Filters(),
    "ix_audit_log_actor": Filters(actor="ann"),
    "ix_audit_log_action": Filters(action="user.created"),
    "ix_audit_log_subject": Filters(subject="s7", actor="ann"),
}


@pytest.fixture
def long(log: Engine) -> Engine:
    """Twenty thousand entries of twenty domains."""
    put(
        log,
        [
            {
                "at": NOW + timedelta(milliseconds=n),
                "domain": f"d{n % 20}.example" if n % 20 else None,
                "actor": "ann" if n % 3 else "bob",
                "action": "user.enabled" if n % 9_999 == 0 else "user.created",
                "subject": f"s{n % 50}",
            }
            for n in range(20_000)
        ],
    )
    transact(log, lambda c: c.execute(text("ANALYZE TABLE audit_log")))
    return log


def test_each_statement_goes_along_its_index(long: Engine) -> None:
    for name, statement in STATEMENTS.items():
        for index, filters in INDEXES.items():
            for plan in plans(long, lambda c, s=statement, f=filters: s(c, f)):  # type: ignore[misc]
                assert plan["key"] == index, (name, plan)
                assert plan["type"] in ("range", "ref"), (name, plan)
                extra = str(plan["Extra"])
                assert "filesort" not in extra
                if name == "list_domains":
                    assert "Using index for group-by" in extra, plan


def plans(engine: Engine, ask: Callable[[Connection], object]) -> list[dict[str, Any]]:
    said: list[tuple[str, Any]] = []

    def listen(_c: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
        said.append((statement, values))

    def work(connection: Connection) -> list[dict[str, Any]]:
        event.listen(connection, "before_cursor_execute", listen)
        ask(connection)
        event.remove(connection, "before_cursor_execute", listen)
        ((statement, values),) = said
        rows = connection.exec_driver_sql(f"EXPLAIN {statement}", values).mappings().all()
        return [dict(row) for row in rows]

    found = transact(engine, work)
    assert found
    return found


RARE = Filters(actor="ann", action="user.enabled")


@pytest.mark.parametrize(
    ("query", "most"),
    [
        (Query("d3.example"), 2 * PAGE),
        (Query("d3.example", Filters(actor="ann")), 2 * PAGE),
        (Query("d3.example", Filters(action="user.created")), 2 * PAGE),
        (Query("d3.example", Filters(subject="s3")), 2 * PAGE),
        (Query("d3.example", times=Times(NOW, NOW + timedelta(seconds=2))), 2 * PAGE),
        (Query("d3.example", RARE), LOOKED_AT),
        (Query(), 25 * (PAGE + 1)),
        (Query(filters=Filters(actor="ann")), 25 * (PAGE + 1)),
        (Query(filters=RARE), LOOKED_AT + 100),
    ],
)
def test_a_page_reads_no_more_than_it_may(long: Engine, query: Query, most: int) -> None:
    """As the server counts it. The following page costs no more than the first."""
    for _ in range(2):
        before = rows_read(long)
        page = search(long, query)
        assert rows_read(long) - before <= 2 * most + 100, query  # an index's entry, and its row
        if page.before is not None:
            query = replace(query, before=page.before)


def test_one_that_looked_at_all_it_may_says_how_far_back(
    long: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOKED_AT", 100)
    page: Page = search(long, Query("d3.example", RARE))
    assert (page.links, page.full) == ([], False)
    assert page.before is not None


def rows_read(engine: Engine) -> int:
    """By this connection alone: other tests' servers have their own."""
    query = text("SHOW GLOBAL STATUS LIKE 'Handler_read_%'")
    rows = transact(engine, lambda c: c.execute(query).all())
    return sum(int(row[1]) for row in rows)
