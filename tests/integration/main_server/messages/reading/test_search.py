"""Lists of messages: whose they are, in which order, page by page, and how little is looked at."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, event, text

from gatepost.errors import Invalid
from gatepost.ids import first_id_at, id_ms
from main_server.messages.failed import listing
from main_server.messages.failed.listing import count_by_reason
from main_server.messages.reading import search as module
from main_server.messages.reading.list_repository import (
    Found,
    Lane,
    read_found,
    walk_all,
    walk_lanes,
)
from main_server.messages.reading.scope import Asked
from main_server.messages.reading.search import NEIGHBOURS_LOOKED_AT, PAGE, ROWS_LOOKED_AT, Query
from main_server.people.users.viewer import Viewer
from main_server.store.database import transact
from tests.integration.main_server.town import (
    NUMBER,
    OTHER_NUMBER,
    SUPER,
    Town,
    span,
)


def newest_first(*ids: UUID) -> list[UUID]:
    return sorted(ids, reverse=True)


def all_pages(town: Town, viewer: Viewer, **given: Any) -> list[UUID]:
    found: list[UUID] = []
    end = None
    first = given.pop("first", bytes(16))
    while True:
        page = town.find(viewer, span=span(first, end), **given)
        found += [UUID(bytes=one.entry.message_id) for one in page.messages]
        if page.before is None:
            return found
        assert end is None or page.before < end
        end = page.before


def test_each_sees_their_part_newest_first(town: Town) -> None:
    of_a, of_b = town.send("a", 3), town.send("b", 2)
    assert town.found(town.user("a")) == newest_first(*of_a)
    assert town.found(town.user("a", "b")) == newest_first(*of_a, *of_b)
    assert town.found(town.user()) == []
    assert town.found(town.admin()) == newest_first(*of_a, *of_b)
    assert town.found(SUPER, domain=town.domain) == newest_first(*of_a, *of_b)
    assert set(of_a + of_b) <= set(all_pages(town, SUPER))


def test_filters_narrow_it(town: Town) -> None:
    of_a, of_b = town.send("a", 3), town.send("b", 2)
    failed = of_a[1]
    town.client("a").force(failed, status="failed", reason="refused")
    admin = town.admin()
    assert town.found(admin, client=f"{town.domain}:b") == newest_first(*of_b)
    assert town.found(admin, status="failed") == [failed]
    assert town.found(SUPER, domain=town.domain, status="failed") == [failed]
    assert failed in town.found(SUPER, status="failed")
    assert town.found(town.user("b"), status="failed") == []
    early = span(first_id_at(id_ms(of_a[0])), of_a[2].bytes)
    assert town.found(admin, span=early) == newest_first(*of_a[:2])


@pytest.mark.parametrize("status", [None, "queued", "failed"])
@pytest.mark.parametrize("role", ["user", "admin"])
@pytest.mark.parametrize("day_ms", [1, 86_400_000])
def test_pages_leave_nothing_out_and_repeat_nothing(
    town: Town, monkeypatch: pytest.MonkeyPatch, status: str | None, role: str, day_ms: int
) -> None:
    """However uneven the clients are, and however little a page may look at, or at once."""
    monkeypatch.setattr(module, "_DAY_MS", day_ms)
    monkeypatch.setattr(module, "PAGE", 4)
    monkeypatch.setattr(module, "ROWS_LOOKED_AT", 6)
    sent = town.send("a", 1) + town.send("b", 9) + town.send("a", 5) + town.send("b", 2)
    for one in sent[::3]:
        town.client("a").force(one, status="failed", reason="expired")
    wanted = {None: sent, "failed": sent[::3]}.get(status, [m for m in sent if m not in sent[::3]])
    viewer = town.admin() if role == "admin" else town.user("a", "b")
    assert all_pages(town, viewer, status=status) == newest_first(*wanted)


@pytest.mark.parametrize("day_ms", [1, 86_400_000])
def test_of_many_clients_those_with_the_newest_messages_are_asked(
    town: Town, monkeypatch: pytest.MonkeyPatch, day_ms: int
) -> None:
    monkeypatch.setattr(module, "PAGE", 1)
    monkeypatch.setattr(module, "_DAY_MS", day_ms)
    sent = [town.send(name)[0] for name in "abcabc"]
    of_all = town.user("a", "b", "c")
    assert all_pages(town, of_all) == newest_first(*sent)
    town.client("a").force(sent[0], status="failed", reason="refused")
    assert all_pages(town, of_all, status="failed") == [sent[0]], "of whom nothing newer has failed"


def test_a_number_is_found_by_its_mac_within_its_domain(town: Town) -> None:
    mine, theirs = town.send("a", number=NUMBER), town.send("b", number=NUMBER)
    town.send("a", number=OTHER_NUMBER)
    macs = [mac for _, mac in town.ring.number_hashes(town.domain, NUMBER)]
    assert town.found(town.user("a"), macs=macs) == mine
    assert town.found(town.admin(), macs=macs) == newest_first(*mine, *theirs)
    assert town.found(town.admin(), macs=macs, status="delivered") == []
    elsewhere = [mac for _, mac in town.ring.number_hashes("example.com", NUMBER)]
    assert town.found(town.admin(), macs=elsewhere) == []


def test_a_list_shows_numbers_masked_and_no_body(town: Town) -> None:
    (erased,) = town.send("a", number=NUMBER)
    town.client("a").force(erased, encrypted_body=None, key_id=None)
    town.send("a", number=NUMBER)
    assert [one.number for one in town.find(town.user("a")).messages] == ["+491****567", None]


def test_what_is_foreign_is_empty_like_what_is_not_there(town: Town, ring: object) -> None:
    """Messages, counts and how far a search came: all are as if the others had nothing (I12)."""
    other = Town(town.engine, town.ring)
    other.send("a", 3)
    macs = [mac for _, mac in town.ring.number_hashes(other.domain, NUMBER)]
    for viewer in (town.user("a"), town.admin()):
        for asked in (
            {"domain": other.domain},
            {"client": f"{other.domain}:a"},
            {"domain": other.domain, "client": f"{other.domain}:a"},
            {"macs": macs},
            {"status": "queued", "domain": other.domain},
        ):
            nothing = town.find(viewer, domain="nowhere.example", client="nowhere.example:a")
            assert town.find(viewer, **asked) == nothing, asked
    stranger = Viewer("09", "sly", town.user().role, town.domain, frozenset({f"{other.domain}:a"}))
    assert town.found(stranger) == []


def walked(**narrowed: Any) -> Callable[[Connection], object]:
    lanes = [Lane(client, **narrowed) for client in ("x:a", "x:b")]
    return lambda c: walk_lanes(c, dict.fromkeys(lanes, span()), PAGE)


WALKS: dict[str, Callable[[Connection], object]] = {
    "ix_messages_client": walked(),
    "ix_messages_status": walked(status="failed"),
    "ix_messages_sender": walked(mac=bytes(32)),
    "PRIMARY": lambda c: walk_all(c, span(), PAGE),
}


@pytest.mark.parametrize("index", WALKS)
def test_each_walk_goes_along_its_index_and_sorts_nothing(town: Town, index: str) -> None:
    said: list[tuple[str, Any]] = []

    def listen(_c: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
        said.append((statement, values))

    def work(connection: Connection) -> list[dict[str, object]]:
        event.listen(connection, "before_cursor_execute", listen)
        WALKS[index](connection)
        event.remove(connection, "before_cursor_execute", listen)
        ((statement, values),) = said
        rows = connection.exec_driver_sql(f"EXPLAIN {statement}", values).mappings().all()
        return [dict(row) for row in rows if row["table"] == "messages"]

    plans = transact(town.engine, work)
    assert plans
    for plan in plans:
        assert plan["key"] == index, plan
        assert plan["type"] in ("range", "ref"), plan
        assert "filesort" not in str(plan["Extra"])


def test_a_page_looks_at_no_more_than_it_may(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise is 5,000 rows: here it is counted by the server, in a client with more."""
    monkeypatch.setattr(module, "ROWS_LOOKED_AT", 200)
    macs = [mac for _, mac in town.ring.number_hashes(town.domain, NUMBER)]
    town.send("a", 500, number=NUMBER)
    by_index = 2 * PAGE + 10
    for given, most in (
        ({}, by_index),
        ({"status": "failed"}, by_index),
        ({"status": "queued"}, by_index),
        ({"macs": macs}, by_index),
        ({"macs": macs, "status": "failed"}, 2 * 200),
        ({"status": "queued", "reason": "refused"}, 2 * 200),
    ):
        before = rows_read(town)
        town.find(town.user("a"), **given)
        assert rows_read(town) - before <= most + partitions(town), given
    assert town.find(town.user("a"), macs=macs, status="failed").before is not None
    assert 2 * ROWS_LOOKED_AT + 2 * PAGE < NEIGHBOURS_LOOKED_AT + 2 * PAGE < 5_000


@pytest.mark.parametrize("busy", ["a", "z"])
def test_among_many_clients_as_many_rows_are_looked_at(
    town: Town, monkeypatch: pytest.MonkeyPatch, busy: str
) -> None:
    """However uneven they are: else a page of a domain with hundreds of them shows next to nothing,
    and so do the counts of failed messages by reason."""
    monkeypatch.setattr(module, "ROWS_LOOKED_AT", 30)
    monkeypatch.setattr(module, "PAGE", 5)
    monkeypatch.setattr(listing, "ROWS_LOOKED_AT", 30)
    names = [f"c{n}" for n in range(20)]
    clients = town.user(busy, *names)
    sent = [one for name in names for one in town.send(name)] + town.send(busy, 20)
    sent += [one for name in names for one in town.send(name)]
    with town.engine.begin() as connection:
        failed = text("UPDATE messages SET status = 'failed', reason = :r WHERE domain = :d")
        connection.execute(failed, {"r": "refused", "d": town.domain})
    found = count_by_reason(town.engine, clients, Query(span(), Asked(), "failed"))
    assert found.reasons == [("refused", 30)]
    assert found.since == newest_first(*sent)[29].bytes
    assert all_pages(town, clients, status="failed", reason="refused") == newest_first(*sent)
    page = town.find(clients, status="failed", reason="expired")
    assert (page.messages, page.before) == ([], found.since)


def test_it_is_one_measure_for_all_parts_of_the_time(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each part that a page goes back to would add as many rows again."""
    monkeypatch.setattr(module, "ROWS_LOOKED_AT", 10)
    monkeypatch.setattr(module, "_DAY_MS", 100)
    end = id_ms(town.ids.new())
    ages = (50, 300, 1_000, 2_500)
    sent = [one for age in ages for one in send_at(town, end - age, 6)]
    looked: list[int] = []

    def read(connection: Connection, ids: Sequence[bytes]) -> list[Found]:
        looked.append(len(ids))
        return read_found(connection, ids)

    monkeypatch.setattr("main_server.messages.reading.list_repository.read_found", read)
    asked: dict[str, Any] = {"status": "queued", "reason": "refused"}
    page = town.find(town.user("a"), span=span(bytes(16), first_id_at(end)), **asked)
    assert looked == [6, 4]
    assert page.messages == []
    assert page.before in [one.bytes for one in sent], "it goes on from there"


def send_at(town: Town, ms: int, count: int) -> list[UUID]:
    room = town.client("a")
    made = [first_id_at(ms)[:6] + town.ids.new().bytes[6:] for _ in range(count)]
    room.register(*(room.envelope(message_id=UUID(bytes=one)) for one in made))
    return [UUID(bytes=one) for one in made]


def test_what_others_have_is_not_read(town: Town) -> None:
    """However much it is: else the time that a page takes would tell of it (I12)."""
    macs = [mac for _, mac in town.ring.number_hashes(town.domain, NUMBER)]
    for one in town.send("b", 500, number=NUMBER):
        town.client("b").force(one, status="failed", reason="refused")
    for given in ({}, {"status": "failed"}, {"macs": macs}, {"macs": macs, "status": "failed"}):
        before = rows_read(town)
        assert town.found(town.user("a"), **given) == []
        assert rows_read(town) - before <= partitions(town), given


def test_a_place_before_everything_is_the_end(town: Town) -> None:
    town.send("a")
    for viewer in (town.user("a"), town.admin(), SUPER):
        assert town.found(viewer, span=span(first_id_at(1_600_000_000_000), bytes(15) + b"1")) == []


def test_of_all_messages_a_bounded_number_is_looked_at(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are too many clients to go along them."""
    monkeypatch.setattr(module, "MANY_CLIENTS", 0)
    monkeypatch.setattr(module, "NEIGHBOURS_LOOKED_AT", 3)
    sent = town.send("a", 4)
    town.client("a").force(sent[0], status="failed", reason="refused")
    first = first_id_at(id_ms(sent[0]))
    assert sent[0] in all_pages(town, SUPER, status="failed", first=first)
    with pytest.raises(Invalid):
        town.find(SUPER, macs=[bytes(32)])


def rows_read(town: Town) -> int:
    query = text("SHOW GLOBAL STATUS LIKE 'Handler_read_%'")
    rows = transact(town.engine, lambda c: c.execute(query).all())
    return sum(int(row[1]) for row in rows if row[0] in ("Handler_read_prev", "Handler_read_key"))


def partitions(town: Town) -> int:
    """An index is entered once in each day, and other connections read a row now and then."""
    return 3 * int(timedelta(days=30) / timedelta(days=1))
