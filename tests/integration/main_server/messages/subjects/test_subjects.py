"""A report for a data subject: two administrators, walls between domains, all pages, no number."""

import json
from datetime import UTC, datetime, timedelta
from secrets import token_bytes
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import Depends
from sqlalchemy import Engine, event, insert, text

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.errors import AnotherNeeded, KeysUnavailable, NotFound, NotYet
from gatepost.service.api import create_api
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity, Role, parse_uri
from gatepost.wire.people import UserRole
from main_server.api.admin.subjects import create_router
from main_server.api.portal.messages import NUMBERS_AT_ONCE
from main_server.audit.names import actor_of
from main_server.keys.service import Keyring
from main_server.messages.subjects import service
from main_server.messages.subjects.repository import Report
from main_server.messages.subjects.service import Page
from main_server.people.administrator import Administrator, administrator_by
from main_server.people.users import links
from main_server.people.users import service as users
from main_server.people.users.service import NewUser
from main_server.store.database import Ledger, transact
from main_server.store.tables import certificates
from tests.factories import BODY
from tests.heard import HeardLog
from tests.integration.main_server.town import NUMBER, OTHER_NUMBER, Town, found_town

LATER = timedelta(seconds=5)
"""Messages of this moment are before what is asked for then."""


@pytest.fixture
def town(engine: Engine, ring: Keyring) -> Town:
    return found_town(engine, ring)


@pytest.fixture
def other(engine: Engine, ring: Keyring) -> Town:
    return found_town(engine, ring)


def of(domain: str, name: str = "ann") -> Administrator:
    return administrator_by(Identity(domain, Role.ADMIN, name))


def of_all(name: str) -> Administrator:
    return of(INFRASTRUCTURE_DOMAIN, name)


def now() -> datetime:
    return datetime.now(UTC) + LATER


def ask(town: Town, asker: Administrator, number: str = NUMBER) -> Report:
    return service.ask(town.engine, town.ring, number, asker, now())


def id_of(report: Report) -> UUID:
    return UUID(bytes=report.report_id)


def approve(town: Town, report: Report, approver: Administrator) -> Report:
    return service.approve(town.engine, id_of(report), approver, now())


def fetch(
    town: Town,
    report: Report,
    asker: Administrator,
    after: UUID | None = None,
    at: datetime | None = None,
) -> Page:
    return service.fetch(town.engine, town.ring, id_of(report), asker, after, at or now())


def fetch_all(town: Town, report: Report, asker: Administrator) -> list[Page]:
    pages = [fetch(town, report, asker)]
    while (after := pages[-1].after) is not None:
        pages.append(fetch(town, report, asker, UUID(bytes=after)))
    return pages


def ids_in(pages: list[Page]) -> list[UUID]:
    return [UUID(bytes=row.message_id) for page in pages for row, _ in page.messages]


def open_ids(town: Town, asker: Administrator) -> set[UUID]:
    return {id_of(one) for one in service.list_open(town.engine, asker, now())}


def test_one_asks_another_approves_and_all_pages_come(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PAGE", 2)
    theirs = [*town.send("a", 3, number=NUMBER), *town.send("b", 2, number=NUMBER)]
    town.send("a", 2, number=OTHER_NUMBER)
    ann, bob = of(town.domain, "ann"), of(town.domain, "bob")
    report = ask(town, ann)
    assert report.counts == {town.domain: 5}
    with pytest.raises(NotYet):
        fetch(town, report, ann)
    assert approve(town, report, bob).approved_by == bob.actor
    pages = fetch_all(town, report, ann)
    assert ids_in(pages) == theirs
    assert [len(page.messages) for page in pages] == [2, 2, 1]
    contents = [content for page in pages for _, content in page.messages]
    assert {(one.sender_number, one.message_body) for one in contents if one} == {(NUMBER, BODY)}
    ((asker, _, _),) = town.audited("subject.asked")
    ((approver, _, details),) = town.audited("subject.approved")
    assert (asker, approver) == (ann.actor, bob.actor)
    assert json.loads(details)["messages"] == {town.domain: 5}
    noted = [json.loads(details) for _, _, details in town.audited("subject.reported")]
    assert [one["message_ids"] for one in noted] == [
        [str(one) for one in page] for page in (theirs[:2], theirs[2:4], theirs[4:])
    ]


def test_nobody_approves_their_own(town: Town) -> None:
    """By a second certificate of the same name neither: it is the name that counts."""
    report = ask(town, of(town.domain, "ann"))
    with pytest.raises(AnotherNeeded):
        approve(town, report, of(town.domain, "ann"))
    with pytest.raises(NotYet):
        fetch(town, report, of(town.domain, "ann"))
    assert town.audited("subject.approved") == []


EVE = "gatepost://gatepost/user/eve"


def given(town: Town, who: Administrator, by: str, **more: Any) -> None:
    """A certificate of the role admin, by somebody."""
    holder, moment = parse_uri(who.actor), from_ms(to_ms(datetime.now(UTC)))
    row = {
        "serial": uuid4().hex,
        "fingerprint": token_bytes(32),
        "domain": holder.domain,
        "role": holder.role.value,
        "name": holder.name,
        "status": "active",
        "not_before": moment,
        "not_after": moment + timedelta(days=1),
        "created_at": moment,
        "issuer": uuid4().hex,  # of none, it would be on everybody's lists
        "actor": by,
    }
    transact(town.engine, lambda c: c.execute(insert(certificates).values(row | more)))


def test_two_names_of_one_hand_are_one(town: Town) -> None:
    """Who makes a certificate may have its key: by two of them one could ask and approve."""
    ann, bob, cat, sam = (of(town.domain, f"{n}-{uuid4().hex[:8]}") for n in ("a", "b", "c", "s"))
    given(town, ann, EVE)
    given(town, bob, EVE)
    given(town, cat, bob.actor)
    given(town, sam, "shell:root")
    report = ask(town, ann)
    for another in (bob, cat):
        with pytest.raises(AnotherNeeded):
            approve(town, report, another)
    assert approve(town, report, sam).approved_by == sam.actor
    with pytest.raises(AnotherNeeded):
        approve(town, ask(town, bob), cat)  # bob has made it
    assert approve(town, ask(town, sam), ann).approved_by == ann.actor


def test_a_second_account_is_the_same_hand(town: Town) -> None:
    """Who makes somebody a link for their password may use it, and certify in their name."""
    first, second, third = (f"p-{uuid4().hex[:8]}" for _ in range(3))
    ann, bob, cat = (of(town.domain, f"{n}-{uuid4().hex[:8]}") for n in ("a", "b", "c"))
    makers = {ann: (first, "shell:root"), bob: (second, person(first)), cat: (third, "shell:root")}
    for who, (name, maker) in makers.items():
        whole = NewUser(INFRASTRUCTURE_DOMAIN, name, UserRole.SUPER_ADMIN)
        user = users.create(town.engine, whole, now(), maker)
        links.make_link(town.engine, user, now(), maker)
        given(town, who, person(name))
    with pytest.raises(AnotherNeeded):
        approve(town, ask(town, ann), bob)
    assert approve(town, ask(town, ann), cat).approved_by == cat.actor


def person(name: str) -> str:
    return actor_of(INFRASTRUCTURE_DOMAIN, name)


def test_what_was_good_when_it_was_asked_counts(town: Town) -> None:
    """Revoked meanwhile, it would hide whose hand it was; over before, it tells of nobody."""
    ann, bob = (of(town.domain, f"{n}-{uuid4().hex[:8]}") for n in ("a", "b"))
    moment = from_ms(to_ms(datetime.now(UTC)))
    given(town, bob, EVE)
    given(town, ann, "shell:root")
    given(town, ann, EVE, not_after=moment - timedelta(seconds=1))
    earlier = moment - timedelta(minutes=1)
    given(town, ann, EVE, status="revoked", revoked_at=earlier)
    assert approve(town, ask(town, ann), bob).approved_by == bob.actor
    report = ask(town, ann)
    given(town, ann, EVE, status="revoked", revoked_at=moment + 2 * LATER)
    with pytest.raises(AnotherNeeded):
        approve(town, report, bob)


def test_a_page_reads_the_rows_that_it_tells_of(town: Town) -> None:
    """And of all others of the number no more than the index says."""
    town.send("a", 3, number=NUMBER)
    report = ask(town, of(town.domain, "ann"))
    approve(town, report, of(town.domain, "bob"))
    said: list[tuple[str, Any]] = []

    def listen(_c: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
        if "ix_messages_sender" in statement:
            said.append((statement, values))

    event.listen(town.engine, "before_cursor_execute", listen)
    ask(town, of(town.domain, "ann"))
    fetch(town, report, of(town.domain, "ann"))
    event.remove(town.engine, "before_cursor_execute", listen)
    assert len(said) == 2, "one counts, one finds"
    with town.engine.connect() as connection:
        for statement, values in said:
            explained = connection.exec_driver_sql(f"EXPLAIN {statement}", values)
            (plan,) = explained.mappings().all()
            assert "Using index" in plan["Extra"], plan


def test_who_has_not_asked_gets_nothing(town: Town) -> None:
    town.send("a", number=NUMBER)
    report = ask(town, of(town.domain, "ann"))
    approve(town, report, of(town.domain, "bob"))
    for another in (of(town.domain, "bob"), of_all("ann")):
        with pytest.raises(AnotherNeeded):
            fetch(town, report, another)
    assert town.audited("subject.reported") == []


def test_a_foreign_report_is_as_one_that_is_not_there(town: Town, other: Town) -> None:
    wide, narrow = ask(town, of_all("eve")), ask(town, of(town.domain))
    stranger, nothing = of(other.domain, "sam"), uuid4()
    for message_id in (id_of(wide), id_of(narrow), nothing):
        with pytest.raises(NotFound) as approving:
            service.approve(town.engine, message_id, stranger, now())
        with pytest.raises(NotFound) as fetching:
            service.fetch(town.engine, town.ring, message_id, stranger, None, now())
        assert approving.value.detail == fetching.value.detail == service.NONE
    assert open_ids(town, stranger) == set()
    with pytest.raises(NotFound):
        approve(town, wide, of(town.domain, "bob"))
    assert open_ids(town, of(town.domain)) == {id_of(narrow)}
    assert {id_of(wide), id_of(narrow)} <= open_ids(town, of_all("sue"))


def test_an_administrator_of_a_domain_is_told_of_it_alone(town: Town, other: Town) -> None:
    (mine,), (theirs,) = town.send("a", number=NUMBER), other.send("a", number=NUMBER)
    narrow, wide = ask(town, of(town.domain, "ann")), ask(town, of_all("eve"))
    assert narrow.counts == {town.domain: 1}
    assert (wide.counts[town.domain], wide.counts[other.domain]) == (1, 1)
    approve(town, narrow, of_all("eve"))
    approve(town, wide, of_all("sue"))
    assert ids_in(fetch_all(town, narrow, of(town.domain, "ann"))) == [mine]
    assert {mine, theirs} <= set(ids_in(fetch_all(town, wide, of_all("eve"))))
    for place, own, foreign in ((town, mine, theirs), (other, theirs, mine)):
        noted = " ".join(details for _, _, details in place.audited("subject.reported"))
        assert str(own) in noted
        assert str(foreign) not in noted


def test_it_is_over_after_a_day_and_soon_after_its_last_page(town: Town) -> None:
    ann, bob = of(town.domain, "ann"), of(town.domain, "bob")
    left, fetched = ask(town, ann), ask(town, ann)
    for report in (left, fetched):
        approve(town, report, bob)
    fetch(town, fetched, ann)
    fetch(town, fetched, ann)  # its answer may have been lost
    assert open_ids(town, ann) == {id_of(left), id_of(fetched)}
    soon = now() + service.LASTS_WHEN_FETCHED
    with pytest.raises(NotFound):
        fetch(town, fetched, ann, at=soon)
    fetch(town, left, ann, at=now() + service.LASTS - timedelta(minutes=2))
    with pytest.raises(NotFound):
        fetch(town, left, ann, at=now() + service.LASTS)
    service.forget_expired(town.engine, now().replace(tzinfo=None) + service.LASTS)
    assert rows(town) == []


def test_what_nobody_can_read_any_more_is_listed_so(town: Town) -> None:
    readable, altered = town.send("a", 2, number=NUMBER)
    town.client("a").force(altered, encrypted_body=b"\x01" + bytes(60))
    report = ask(town, of(town.domain, "ann"))
    approve(town, report, of(town.domain, "bob"))
    (page,) = fetch_all(town, report, of(town.domain, "ann"))
    found = {UUID(bytes=row.message_id): content is not None for row, content in page.messages}
    assert found == {readable: True, altered: False}


def test_while_a_key_can_not_be_used_nothing_is_asked_for(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages under it would be missing, and nobody would know."""
    monkeypatch.setattr(Keyring, "problem", property(lambda _: "a key can't be unwrapped"))
    with pytest.raises(KeysUnavailable):
        ask(town, of(town.domain))
    assert open_ids(town, of(town.domain)) == set()


async def test_one_administrator_asks_for_so_many_numbers_at_once(town: Town) -> None:
    """Each answer tells how many messages a number has."""
    app, ann = create_api("test"), Depends(lambda: of(town.domain))
    context: Any = SimpleNamespace(ledger=Ledger(town.engine, 1), keyring=town.ring, clock=Clock())
    app.include_router(create_router(context, ann))
    whole: Any = Requests(app, HeardLog(), RequestMetrics(f"subjects_{uuid4().hex}"))
    transport = httpx.ASGITransport(whole, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="https://main.example") as http:
        for _ in range(NUMBERS_AT_ONCE):
            assert (await http.post("/admin/subjects", json={"number": NUMBER})).status_code == 201
        said = await http.post("/admin/subjects", json={"number": NUMBER})
    assert said.status_code == 429


def test_the_number_is_kept_nowhere(town: Town) -> None:
    town.send("a", number=NUMBER)
    ask(town, of(town.domain))
    digits = NUMBER.removeprefix("+")
    (kept,) = rows(town)
    assert digits.encode() not in kept
    assert b"".join(mac for _, mac in town.ring.number_hashes(town.domain, NUMBER)) in kept
    assert digits not in str(town.audited("subject.asked"))


def rows(town: Town) -> list[bytes]:
    """All that is kept for the domain, as bytes."""
    query = text(
        "SELECT CONCAT(macs, counts, asked_by) FROM subject_requests WHERE domain = :domain"
    )
    found = transact(
        town.engine, lambda c: c.execute(query, {"domain": town.domain}).scalars().all()
    )
    return [bytes(one) for one in found]
