"""Domains and the audit log by way of the portal, on a running stack: what is changed is so at the
edge within its next bundle, nothing that was accepted is lost by it, and a domain is a wall (I12).
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import httpx
import pytest

from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from tests.acceptance.site import Site, accepted, eventually, post
from tests.acceptance.test_wall import seen
from tests.acceptance.towns import Reader, Town

WHY = "the contract is over"


@pytest.fixture(scope="module")
def towns(site: Site, portal: httpx.Client) -> tuple[Town, Town]:
    return Town(site, portal), Town(site, portal)


@pytest.fixture(scope="module")
def town(towns: tuple[Town, Town]) -> Town:
    return towns[0]


@pytest.fixture(scope="module")
def eve(town: Town) -> Reader:
    return town.reader(UserRole.SUPER_ADMIN, domain="gatepost")


def told(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


@dataclass
class Sender:
    """A client of a town's domain, and what it was promised."""

    site: Site
    domain: str
    sent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.files = self.site.issue(Identity(self.domain, Role.CLIENT, "c")).files
        self.wait_for(200)

    def send(self, count: int) -> None:
        with self.site.calling(self.files) as http:
            self.sent.extend(accepted(post(http)) for _ in range(count))

    def sends_by(self, queue: str) -> bool:
        self.send(1)
        row = self.site.row(self.sent[-1])
        return row is not None and row["queue"] == queue

    def wait_for(self, status: int) -> None:
        """Whichever process is asked."""

        def one() -> int:
            with self.site.calling(self.files) as client:
                return client.get("/api/v1/whoami").status_code

        eventually(lambda: all(one() == status for _ in range(6)), f"{status} for all", 10)

    def wait_until_delivered(self) -> None:
        def delivered() -> bool:
            rows = [self.site.row(one) for one in self.sent]
            return all(row is not None and row["status"] == "delivered" for row in rows)

        eventually(delivered, "all that was accepted is delivered")


def test_a_domain_moves_to_other_queues_and_loses_nothing(
    site: Site, portal: httpx.Client, eve: Reader
) -> None:
    name = Town(site, portal).domain
    sender = Sender(site, name)
    sender.send(20)
    moved = told(eve.post(f"/domains/{name}", queue_prefix=name))
    assert moved["queue"] == f"{name}:messages"
    sender.send(20)
    moved = told(eve.post(f"/domains/{name}", queue_prefix=f"{name}.b", max_undelivered=5_000))
    assert moved["former_queues"] == [f"{name}:messages"]
    sender.send(20)
    eventually(lambda: sender.sends_by(f"{name}.b:messages"), "the edge knows the queue")
    sender.send(20)
    sender.wait_until_delivered()


def test_a_disabled_domain_is_shut_out_and_what_it_sent_is_delivered(
    site: Site, portal: httpx.Client, eve: Reader
) -> None:
    town = Town(site, portal)
    again = eve.post("/domains", domain=town.domain)
    assert (again.status_code, again.json()["type"]) == (409, "urn:gatepost:problem:name-taken")
    sender = Sender(site, town.domain)
    sender.send(20)
    disabled = told(eve.post(f"/domains/{town.domain}/disable", reason=WHY))
    assert (disabled["clients"], disabled["people"]) == (3, 3)
    for reader in (town.of_a, town.of_b, town.admin):
        assert reader.get("/messages").status_code == 401, "at once"
    sender.wait_for(403)
    sender.wait_until_delivered()
    assert eve.found(domain=town.domain) == town.messages | set(sender.sent)
    told(eve.post(f"/domains/{town.domain}/enable"))
    sender.wait_for(200)
    sender.send(1)
    town.reader(UserRole.ADMIN)
    assert [one["reason"] for one in town.audited("domain.disabled")] == [WHY]


def test_an_administrator_sees_their_own_and_changes_none(towns: tuple[Town, Town]) -> None:
    for town, other in (towns, towns[::-1]):
        (listed,) = told(town.admin.get("/domains"))["domains"]
        assert listed["domain"] == town.domain
        assert told(town.admin.get(f"/domains/{town.domain}"))["clients"] == 2
        nothing = town.admin.get("/domains/nowhere.example")
        assert nothing.status_code == 404
        theirs = town.admin.get(f"/domains/{other.domain}")
        assert seen(theirs, other.domain) == seen(nothing, "nowhere.example")
        for reader, domain in product((town.admin, town.of_a), (town.domain, other.domain)):
            for path in ("", f"/{domain}", f"/{domain}/disable", f"/{domain}/enable"):
                answer = reader.post(f"/domains{path}", reason=WHY)
                assert answer.status_code == 403
        assert town.of_a.get("/domains").status_code == 403


def entries(reader: Reader, **query: Any) -> list[dict[str, Any]]:
    """All of them, page after page."""
    found: list[dict[str, Any]] = []
    while True:
        page = told(reader.get("/audit", **query))
        found += page["entries"]
        if page["before"] is None:
            return found
        query["before"] = page["before"]


def test_an_administrator_finds_what_was_done_in_their_domain(
    towns: tuple[Town, Town], eve: Reader
) -> None:
    """And nothing of another, whatever they look for; nor how much there is (I12)."""
    town, other = towns
    for one in towns:
        told(one.admin.post(f"/messages/{one.a}/open", reason=WHY))
    mine = entries(town.admin)
    assert {one["domain"] for one in mine} == {town.domain}
    assert {one["number"] for one in mine} == {None}
    (opened,) = entries(town.admin, action="message.opened")
    assert opened["subject"] == town.a
    assert opened["actor_in_words"].endswith(f"@{town.domain}")
    assert {"name": "reason", "value": WHY} in opened["details"]
    assert entries(town.admin, subject=town.a, actor=opened["actor"]) == [opened]
    (theirs,) = entries(other.admin, action="message.opened")
    for query in (
        {"domain": other.domain},
        {"subject": theirs["subject"]},
        {"actor": theirs["actor"]},
        {"actor": theirs["actor"], "action": "message.opened"},
        {"domain": other.domain, "actor": theirs["actor"]},
    ):
        nothing = {name: "nowhere.example" for name in query if name != "action"}
        told_nothing = town.admin.get("/audit", **(query | nothing))
        assert told_nothing.json()["entries"] == []
        assert seen(town.admin.get("/audit", **query)) == seen(told_nothing), query
    of_other = entries(eve, domain=other.domain, action="message.opened")
    assert [one["subject"] for one in of_other] == [other.a]
    assert of_other[0]["number"] > 0
    looked = entries(town.admin, action="audit.listed")
    assert not looked, "that she looked at another domain is not for this one"
    assert entries(other.admin, action="audit.listed"), "but for that one"


def test_the_chain_is_verified_in_the_background(town: Town, eve: Reader) -> None:
    for path, ask in product(("/audit/check",), (town.admin.get, town.admin.post)):
        assert ask(path).status_code == 403, "the chain is everybody's"
    told(eve.post("/audit/check"))

    def ended() -> bool:
        return bool(told(eve.get("/audit/check"))["check"]["ended_at"])

    eventually(ended, "it comes to an end")
    check = told(eve.get("/audit/check"))["check"]
    assert (check["state"], check["fault"]) == ("whole", None)
    assert check["entries"] == check["of"] > 0


@pytest.mark.parametrize(
    "query",
    [{"action": "CANARY"}, {"before": "CANARY"}, {"actor": "é"}, {"from": "2030", "to": "2029"}],
)
def test_what_can_not_be_looked_for_is_refused_and_not_repeated(
    town: Town, query: dict[str, str]
) -> None:
    answer = town.admin.get("/audit", **query)
    assert answer.status_code == 422
    assert "CANARY" not in answer.text
    assert town.of_a.get("/audit").status_code == 403
