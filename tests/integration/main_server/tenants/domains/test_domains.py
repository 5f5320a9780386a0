"""Domains in a ledger: what is set for them, what it does, and that nothing is lost by it."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from sqlalchemy import Engine

from gatepost.cli.main import run
from gatepost.clock import Clock, from_ms, to_ms
from gatepost.errors import (
    Invalid,
    NameTaken,
    NotFound,
    NotSignedIn,
    TokenRefused,
    WrongCredentials,
)
from gatepost.trust.identity import Identity, Role
from gatepost.wire.domains import DomainSettings
from main_server.audit.list_repository import Filters
from main_server.audit.search import Query, entries
from main_server.ca import repository as certificates
from main_server.keys.service import Keyring
from main_server.messages.edge.service import list_queues, make_bundle
from main_server.people.sessions import service as sessions
from main_server.people.users import links
from main_server.people.users import service as users
from main_server.store.database import transact
from main_server.store.tables import certificates as certificates_table
from main_server.tenants.clients.service import ensure
from main_server.tenants.domains import service
from main_server.tenants.domains.seeding import compare
from main_server.tenants.pauses import service as pauses
from main_server.tenants.pauses.repository import What
from main_server.tenants.pauses.service import Order
from tests.integration.main_server.new_people import HASH, People

ACTOR = "gatepost://gatepost/user/eve"
NOW = datetime.now(UTC)
SHARED = "message_queue"
change = partial(service.change, shared=SHARED)


@pytest.fixture
def name() -> str:
    return f"d-{uuid4().hex[:12]}.example"


@pytest.fixture
def domain(engine: Engine, name: str) -> str:
    wanted = DomainSettings(queue_prefix=name, max_undelivered=1_000)
    service.create(engine, name, wanted, NOW, ACTOR)
    return name


def audited(engine: Engine, domain: str, action: str) -> list[dict[str, Any]]:
    found = entries(engine, Query(domain, Filters(action=action)))
    return [json.loads(one.details) | {"actor": one.actor} for one in found]


def test_a_new_one_is_there_for_the_edge_and_for_workers(
    engine: Engine, ring: Keyring, domain: str
) -> None:
    (known,) = [one for one in make_bundle(engine, ring, Clock()).domains if one.name == domain]
    assert (known.queue, known.max_undelivered) == (f"{domain}:messages", 1_000)
    assert f"{domain}:messages" in list_queues(engine)
    seen = service.show(engine, domain)
    assert (seen.clients, seen.people, seen.former_queues) == (0, 0, [])
    (entry,) = audited(engine, domain, "domain.created")
    assert entry == {
        "actor": ACTOR,
        "queue": f"{domain}:messages",
        "max_undelivered": 1_000,
        "retention_days": None,
        "time_zone": None,
    }


def test_a_name_is_never_used_again(engine: Engine, domain: str) -> None:
    for taken in (domain, "gatepost"):
        with pytest.raises(NameTaken):
            service.create(engine, taken, DomainSettings(), NOW, ACTOR)


@pytest.mark.parametrize("wrong", ["", "é.example", "A.example", "a b", "a:b", "x" * 129, "a/../b"])
def test_what_can_not_be_a_domain_is_refused(engine: Engine, wrong: str) -> None:
    with pytest.raises(Invalid):
        service.create(engine, wrong, DomainSettings(), NOW, ACTOR)


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"queue_prefix": ""}, "/queue_prefix"),
        ({"queue_prefix": "{x}"}, "/queue_prefix"),
        ({"queue_prefix": "a:messages"}, "/queue_prefix"),
        ({"queue_prefix": "a\n"}, "/queue_prefix"),
        ({"max_undelivered": 0}, "/max_undelivered"),
        ({"max_undelivered": 2**31}, "/max_undelivered"),
        ({"retention_days": 5}, "/retention_days"),
        ({"retention_days": 3651}, "/retention_days"),
    ],
)
def test_a_wrong_setting_is_refused(
    engine: Engine, domain: str, given: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        change(engine, domain, DomainSettings(**given), NOW, ACTOR)
    assert [one.pointer for one in refused.value.errors] == [pointer]
    assert audited(engine, domain, "domain.changed") == []


def test_a_queue_that_is_left_is_served_on(engine: Engine, domain: str, name: str) -> None:
    """Messages wait in it, and what failed in it may be redriven (I5)."""
    other = DomainSettings(queue_prefix=f"{name}.b", max_undelivered=1_000, retention_days=60)
    change(engine, domain, other, NOW, ACTOR)
    old, new = f"{domain}:messages", f"{name}.b:messages"
    assert {old, new, None} <= set(list_queues(engine))
    assert service.show(engine, domain).former_queues == [old]
    (entry,) = audited(engine, domain, "domain.changed")
    assert (entry["queue"], entry["queue_before"]) == (new, old)
    assert (entry["retention_days"], entry["retention_days_before"]) == (60, None)
    change(engine, domain, other, NOW, ACTOR)
    assert len(audited(engine, domain, "domain.changed")) == 1, "nothing was changed"
    back = DomainSettings(queue_prefix=name, max_undelivered=1_000)
    change(engine, domain, back, NOW, ACTOR)
    assert service.show(engine, domain).former_queues == [new]
    shared = DomainSettings(max_undelivered=1_000)
    change(engine, domain, shared, NOW, ACTOR)
    assert {old, new, None} <= set(list_queues(engine))


@pytest.fixture
def paused(engine: Engine, domain: str) -> Iterator[Callable[..., None]]:
    """Pauses queues; afterwards none is."""

    def pause(*names: str) -> None:
        order = Order("shell:ann", "the database is being moved", NOW)
        pauses.pause(engine, What.QUEUE, dict.fromkeys(names, domain), order)

    yield pause
    names = dict.fromkeys(pauses.list_paused_queues(engine))
    pauses.resume(engine, What.QUEUE, names, Order("shell:ann", "", NOW))


def test_who_moves_from_a_paused_queue_comes_to_a_paused_one(
    engine: Engine, domain: str, paused: Callable[..., None]
) -> None:
    """By the first one's word; what is shared can't be paused with it."""
    old, new = f"{domain}:messages", f"{domain}.b:messages"
    paused(old)
    change(engine, domain, DomainSettings(queue_prefix=f"{domain}.b"), NOW, ACTOR)
    found = {one.name: one for one in pauses.list_all(engine, What.QUEUE)}
    assert set(found) == {old, new}
    assert (found[new].actor, found[new].reason) == ("shell:ann", found[old].reason)
    (entry,) = [one for one in audited(engine, domain, "queue.paused") if "moved_from" in one]
    assert (entry["actor"], entry["moved_from"]) == (ACTOR, old)
    with pytest.raises(Invalid) as refused:
        change(engine, domain, DomainSettings(), NOW, ACTOR)
    assert [one.pointer for one in refused.value.errors] == ["/queue_prefix"]
    assert service.show(engine, domain).domain.queue == new
    paused(SHARED)
    change(engine, domain, DomainSettings(), NOW, ACTOR)
    pauses.resume(engine, What.QUEUE, {old: domain}, Order("shell:ann", "", NOW))
    change(engine, domain, DomainSettings(queue_prefix=domain), NOW, ACTOR)
    assert old in pauses.list_paused_queues(engine), "the shared one is, which it leaves"


def test_a_queue_is_one_domains_alone_for_good(engine: Engine, domain: str) -> None:
    """Another would share its flood, and what still comes by it."""
    other = f"d-{uuid4().hex[:12]}.example"
    with pytest.raises(Invalid):
        service.create(engine, other, DomainSettings(queue_prefix=domain), NOW, ACTOR)
    service.create(engine, other, DomainSettings(), NOW, ACTOR)
    change(engine, domain, DomainSettings(), NOW, ACTOR)
    with pytest.raises(Invalid):
        change(engine, other, DomainSettings(queue_prefix=domain), NOW, ACTOR)


def client_with_certificate(engine: Engine, domain: str, role: Role = Role.CLIENT) -> Identity:
    identity = Identity(domain, role, f"c-{uuid4().hex[:8]}")
    if role is Role.CLIENT:
        ensure(engine, identity, NOW)
    moment = from_ms(to_ms(NOW))
    row = {
        "serial": uuid4().hex,
        "domain": domain,
        "role": role.value,
        "name": identity.name,
        "status": "active",
        "fingerprint": uuid4().bytes * 2,
        "not_before": moment,
        "not_after": datetime(2099, 1, 1),
        "created_at": moment,
    }
    transact(engine, lambda c: c.execute(certificates_table.insert().values(row)))
    return identity


def known_callers(engine: Engine) -> set[Identity]:
    found = transact(engine, lambda c: certificates.list_known(c, list(Role), from_ms(to_ms(NOW))))
    return {one.identity for one in found}


def may_send(engine: Engine, ring: Keyring, client: Identity) -> bool:
    bundle = make_bundle(engine, ring, Clock())
    by_client = client in [one.identity for one in bundle.clients]
    assert by_client == (client.domain in [one.name for one in bundle.domains])
    return by_client


def test_of_a_disabled_one_nobody_may_send_enrol_or_administer(
    engine: Engine, ring: Keyring, domain: str
) -> None:
    client = client_with_certificate(engine, domain)
    admin = client_with_certificate(engine, domain, Role.ADMIN)
    worker = client_with_certificate(engine, domain, Role.WORKER)
    theirs = {client, admin, worker}
    assert may_send(engine, ring, client)
    assert known_callers(engine) & theirs == theirs
    service.disable(engine, domain, "the contract is over", NOW, ACTOR)
    assert not may_send(engine, ring, client)
    assert known_callers(engine) & theirs == {client, worker}, "what delivers for it goes on"
    with pytest.raises(NameTaken):
        ensure(engine, client, NOW)
    assert f"{domain}:messages" in list_queues(engine), "what was accepted is delivered"
    (entry,) = audited(engine, domain, "domain.disabled")
    assert entry["reason"] == "the contract is over"
    service.disable(engine, domain, "again", NOW, ACTOR)
    assert len(audited(engine, domain, "domain.disabled")) == 1
    service.enable(engine, domain, NOW, ACTOR)
    assert may_send(engine, ring, client)
    assert admin in known_callers(engine)


def test_of_a_disabled_one_nobody_is_signed_in_or_signs_in(engine: Engine, domain: str) -> None:
    people = People(engine, domain=domain)
    people.with_password()
    session, tried = people.sign_in(), people.try_()
    service.disable(engine, domain, "why", NOW, ACTOR)
    with pytest.raises(NotSignedIn):
        people.refresh(session.refresh_token)
    with pytest.raises(WrongCredentials):
        sessions.open_session(engine, tried, people.now)
    with pytest.raises(WrongCredentials):
        people.sign_in()
    service.enable(engine, domain, NOW, ACTOR)
    with pytest.raises(NotSignedIn):
        people.refresh(session.refresh_token)
    people.sign_in()


def test_with_their_sessions_end_the_links_for_their_passwords(engine: Engine, domain: str) -> None:
    """As where one person is signed out: whoever was here in their place has left nothing."""
    people = People(engine, domain=domain)
    link = links.make_link(engine, people.create(), people.now, ACTOR)
    service.disable(engine, domain, "why", NOW, ACTOR)
    service.enable(engine, domain, NOW, ACTOR)
    with pytest.raises(TokenRefused):
        links.set_password(engine, link, HASH, people.now)
    link = links.make_link(engine, people.row(), people.now, ACTOR)
    links.set_password(engine, link, HASH, people.now)


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "asked by 0049 155 1234567"])
def test_who_disables_one_says_why(engine: Engine, domain: str, reason: str) -> None:
    with pytest.raises(Invalid):
        service.disable(engine, domain, reason, NOW, ACTOR)
    assert service.show(engine, domain).domain.disabled_at is None


ACTS: list[Callable[[Engine, str], object]] = [
    lambda e, name: change(e, name, DomainSettings(), NOW, ACTOR),
    lambda e, name: service.disable(e, name, "why", NOW, ACTOR),
    lambda e, name: service.enable(e, name, NOW, ACTOR),
    service.show,
]


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("name", ["nowhere.example", "gatepost", "é", "d" * 300, "x\0", ""])
def test_the_gateways_own_domain_is_none_of_them(
    engine: Engine, act: Callable[[Engine, str], object], name: str
) -> None:
    with pytest.raises(NotFound):
        act(engine, name)


def test_the_command(
    engine: Engine,
    name: str,
    tmp_path: Path,
    database_url: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"database": {"url": database_url}}))

    def command(*arguments: str, code: int = 0) -> str:
        assert run(["domain", *arguments, "--config", str(config)]) == code
        captured = capsys.readouterr()
        return captured.out if code == 0 else captured.err

    assert f"The domain {name} is there" in command("add", name, "--queue-prefix", name)
    command("add", name, code=3)
    command("change", name, "--max-undelivered", "5", "--retention-days", "90")
    said = json.loads(command("change", name, "--queue-prefix", "", "--json"))
    assert (said["queue"], said["former_queues"]) == (None, [f"{name}:messages"])
    assert (said["max_undelivered"], said["retention_days"]) == (5, 90)
    command("change", name, "--time-zone", "Mars/Phobos", code=3)
    command("change", name, "--time-zone", "Europe/Berlin")
    command("disable", name, code=2)
    command("disable", name, "--reason", "a test")
    listed = [one for one in command("list").splitlines() if one.startswith(f"{name}  ")]
    assert listed == [
        f"{name}  disabled  the shared queue  at most 5 undelivered, kept 90 days"
        "  0 clients, 0 people  Europe/Berlin"
    ]
    said = json.loads(command("enable", name, "--json"))
    assert said["disabled_at"] is None
    command("change", name, "--max-undelivered", "0", code=3)
    said = json.loads(command("change", name, "--time-zone", "", "--json"))
    assert said["time_zone"] is None
    command("enable", "nowhere.example", code=4)
    (entry,) = audited(engine, name, "domain.disabled")
    assert entry["actor"].startswith("shell:")


def test_its_people_who_have_chosen_none_read_times_in_its_zone(
    engine: Engine, domain: str
) -> None:
    people = People(engine, domain=domain)
    user = people.with_password()
    assert people.sign_in().time_zone is None
    wanted = DomainSettings(queue_prefix=domain, max_undelivered=1_000, time_zone="Asia/Tokyo")
    change(engine, domain, wanted, NOW, ACTOR)
    opened = people.sign_in()
    assert opened.time_zone == "Asia/Tokyo"
    assert people.refresh(opened.refresh_token).time_zone == "Asia/Tokyo"
    assert users.set_time_zone(engine, user, "Europe/Berlin") == "Europe/Berlin"
    assert people.sign_in().time_zone == "Europe/Berlin"
    assert users.set_time_zone(engine, people.row(), None) == "Asia/Tokyo"
    assert people.sign_in().time_zone == "Asia/Tokyo"
    entry = audited(engine, domain, "domain.changed")[-1]
    assert (entry["time_zone"], entry["time_zone_before"]) == ("Asia/Tokyo", None)


def test_a_file_adds_what_is_missing_and_changes_nothing(
    engine: Engine, domain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = f"new-{domain}"
    fields = {"queue_prefix": other, "max_undelivered": 5, "retention_days": 40}
    folder = tmp_path / "main_server"
    folder.mkdir()
    url = engine.url.render_as_string(hide_password=False)
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump({"database": {"url": url}}))
    file = tmp_path / "domains.yaml"
    file.write_text(yaml.safe_dump({"domains": {domain: {"max_undelivered": 7}, other: fields}}))
    for added in ([other], []):
        assert run(["domain", "seed", str(file), "--config", str(config), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["added"] == added
    differ = "max_undelivered is 1000 in the ledger, 7 in domains.yaml"
    assert f"{domain}: {differ}" in said["differences"]
    assert f"{domain}: {differ}" in compare(tmp_path)
    assert not any(words.startswith(f"{other}:") for words in compare(tmp_path))
    assert service.show(engine, other).domain.retention_days == 40
    assert service.show(engine, domain).domain.max_undelivered == 1_000
    assert audited(engine, other, "domain.created")


def test_without_a_ledger_the_file_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "main_server").mkdir()
    (tmp_path / "main_server" / "config.yaml").write_text("database: {port: 1}")
    (tmp_path / "domains.yaml").write_text("domains: {a.example: {}}")
    (words,) = compare(tmp_path)
    assert "does not answer" in words
