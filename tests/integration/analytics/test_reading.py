"""Reading the reports: of the days and of those that were asked for, and no others'."""

from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from gatepost.reports import repository as reports
from gatepost.reports.repository import Busy, Hours, Scope, Seen, Senders, Silent
from main_server.store.database import transact
from main_server.store.tables import metadata
from tests.integration.analytics.conftest import Ledger
from tests.integration.analytics.days import SEVENTH

DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)


def put(ledger: Ledger, table: str, *rows: dict[str, Any]) -> None:
    transact(ledger.engine, lambda c: c.execute(insert(metadata.tables[table]), rows))


def publish(ledger: Ledger, *days: date) -> None:
    rows = [
        {
            "day": day,
            "run_id": "x",
            "schema_version": 2,
            "row_count": 0,
            "id_xor": 0,
            "first_published_at": day,
            "published_at": day,
            "sealed_at": day if day == SEVENTH else None,
            "late_changes": 3 if day == SEVENTH else 0,
        }
        for day in days
    ]
    put(ledger, "lake_manifest", *rows)


def hour(
    day: date, accepted: int, client: str = "a", domain: str = "one.example", at: int = 9
) -> Any:
    counted = dict.fromkeys(Hours.__slots__, 0) | {"accepted": accepted, "delivered": accepted}
    return {"day": day, "hour": at, "domain": domain, "client_id": f"{domain}:{client}", **counted}


def seen(first: date, last: date, client: str = "a", domain: str = "one.example") -> Any:
    client_id = f"{domain}:{client}"
    return {"domain": domain, "client_id": client_id, "first_day": first, "last_day": last}


def ask(ledger: Ledger, read: Any, *given: Any) -> Any:
    def work(connection: Connection) -> Any:
        return read(connection, *given)

    return transact(ledger.engine, work)


def test_before_the_first_run_there_is_nothing(ledger: Ledger) -> None:
    scope = Scope(SEVENTH, SEVENTH + DAY)
    assert ask(ledger, reports.published, scope.first, scope.last) == []
    for read in (reports.hours, reports.failures, reports.delivery_times, reports.senders):
        assert ask(ledger, read, scope) == ask(ledger, read, scope, ["day", "domain"]) == {}
    assert ask(ledger, reports.busiest_hours, scope, 5) == []
    assert ask(ledger, reports.new_clients, scope) == []
    assert ask(ledger, reports.silent_clients, SEVENTH) == []


def test_days_that_were_published_are_told(ledger: Ledger) -> None:
    publish(ledger, SEVENTH, SEVENTH + DAY, SEVENTH + DAY * 3)
    days = ask(ledger, reports.published, SEVENTH, SEVENTH + DAY * 2)
    assert [(one.day, one.sealed, one.late_changes) for one in days] == [
        (SEVENTH, True, 3),
        (SEVENTH + DAY, False, 0),
    ]


def test_a_scope_is_its_days_its_domain_and_its_client(ledger: Ledger) -> None:
    put(
        ledger,
        "report_hours",
        hour(SEVENTH - DAY, 1),
        hour(SEVENTH, 10),
        hour(SEVENTH, 100, at=10),
        hour(SEVENTH + DAY, 1_000, client="b"),
        hour(SEVENTH + DAY, 10_000, domain="two.example"),
        hour(SEVENTH + DAY * 2, 100_000),
    )

    def accepted(by: list[str], *whose: str) -> Any:
        scope = Scope(SEVENTH, SEVENTH + DAY, *whose)
        return {key: one.accepted for key, one in ask(ledger, reports.hours, scope, by).items()}

    assert accepted([]) == {(): 11_110}
    assert accepted([], "one.example") == {(): 1_110}
    assert accepted([], "one.example", "one.example:b") == {(): 1_000}
    assert accepted([], "one.example", "two.example:a") == {}
    assert accepted(["day", "hour"], "one.example") == {
        (SEVENTH, 9): 10,
        (SEVENTH, 10): 100,
        (SEVENTH + DAY, 9): 1_000,
    }
    assert accepted(["domain"]) == {("one.example",): 1_110, ("two.example",): 10_000}
    with pytest.raises(ValueError, match="reports are by day, hour, domain, client_id"):
        accepted(["day; DROP TABLE messages"])


def test_busiest_hours(ledger: Ledger) -> None:
    put(
        ledger,
        "report_hours",
        hour(SEVENTH, 5),
        hour(SEVENTH, 4, client="b"),
        hour(SEVENTH, 8, at=17),
        hour(SEVENTH + DAY, 8, at=3),
        hour(SEVENTH, 99, domain="two.example"),
    )
    scope = Scope(SEVENTH, SEVENTH + DAY, "one.example")
    assert ask(ledger, reports.busiest_hours, scope, 2) == [
        Busy(SEVENTH, 9, 9),
        Busy(SEVENTH + DAY, 3, 8),
    ]


def test_a_period_over_two_keys_has_an_upper_bound(ledger: Ledger) -> None:
    sketches: list[dict[str, Any]] = [
        {"day": SEVENTH + DAY * n, "domain": domain, "client_id": client, "hmac_kid": kid}
        | {"sketch": b"".join(bytes([0, register, 1]) for register in registers)}
        for n, domain, client, kid, registers in (
            (0, "one.example", "", b"first key", [1, 2]),
            (0, "one.example", "one.example:a", b"first key", [1, 2]),
            (1, "one.example", "", b"first key", [2, 3]),
            (2, "one.example", "", b"other key", [1, 9]),
            (2, "two.example", "", b"other key", [4]),
        )
    ]
    put(ledger, "report_senders", *(one | {"hmac_kid": one["hmac_kid"][:8]} for one in sketches))

    def senders(last: date, by: list[str], *whose: str) -> Any:
        return ask(ledger, reports.senders, Scope(SEVENTH, last, *whose), by)

    assert senders(SEVENTH + DAY, []) == {(): Senders(3, upper_bound=False)}
    assert senders(SEVENTH + DAY * 2, [], "one.example") == {(): Senders(5, upper_bound=True)}
    assert senders(SEVENTH + DAY * 2, ["day", "domain"]) == {
        (SEVENTH, "one.example"): Senders(2, upper_bound=False),
        (SEVENTH + DAY, "one.example"): Senders(2, upper_bound=False),
        (SEVENTH + DAY * 2, "one.example"): Senders(2, upper_bound=False),
        (SEVENTH + DAY * 2, "two.example"): Senders(1, upper_bound=False),
    }
    of_client = senders(SEVENTH + DAY * 2, ["client_id"], "one.example")
    assert of_client == {("one.example:a",): Senders(2, upper_bound=False)}
    assert senders(SEVENTH, [], "one.example", "one.example:a") == {(): Senders(2, False)}


def test_new_clients_are_those_whose_first_day_it_is(ledger: Ledger) -> None:
    begin = SEVENTH - DAY * 30
    put(
        ledger,
        "report_clients",
        seen(begin, SEVENTH),
        seen(SEVENTH, SEVENTH + DAY, client="b"),
        seen(SEVENTH, SEVENTH, domain="two.example"),
        seen(SEVENTH + DAY, SEVENTH + DAY, client="c"),
    )
    found = ask(ledger, reports.new_clients, Scope(SEVENTH, SEVENTH, "one.example"))
    assert found == [Seen("one.example", "one.example:b", SEVENTH, SEVENTH + DAY)]
    assert ask(ledger, reports.new_clients, Scope(begin, begin)) == []
    assert len(ask(ledger, reports.new_clients, Scope(begin, SEVENTH + DAY))) == 3


def test_silent_is_who_sends_nothing_on_a_weekday_that_had_something(ledger: Ledger) -> None:
    publish(ledger, SEVENTH, *(SEVENTH - WEEK * n for n in (1, 2, 4)))
    put(
        ledger,
        "report_hours",
        *(hour(SEVENTH - WEEK * n, 100 * n) for n in (1, 2, 4)),
        hour(SEVENTH - WEEK, 7, client="once"),
        *(hour(SEVENTH - WEEK * n, 5, client="talks") for n in range(3)),
        hour(SEVENTH - DAY, 5, client="another_weekday"),
        hour(SEVENTH - WEEK * 5, 5, client="long_ago"),
        hour(SEVENTH - WEEK, 5, domain="two.example"),
    )
    put(
        ledger,
        "report_clients",
        *(seen(SEVENTH - WEEK * 9, SEVENTH - DAY * 2, client=name) for name in ("a", "once")),
        seen(SEVENTH - WEEK, SEVENTH - WEEK, domain="two.example"),
    )
    last = SEVENTH - DAY * 2
    ours = [
        Silent("one.example", "one.example:a", last, usual=200, weeks=3),
        Silent("one.example", "one.example:once", last, usual=0, weeks=1),
    ]
    assert ask(ledger, reports.silent_clients, SEVENTH, "one.example") == ours
    assert len(ask(ledger, reports.silent_clients, SEVENTH)) == 3
    assert ask(ledger, reports.silent_clients, SEVENTH + WEEK) == []  # nobody knows yet
