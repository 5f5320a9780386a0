"""What people see of messages by way of the portal, on a running stack: theirs (what isn't:
test_wall.py); what is opened for them, redriven and discarded; and that a redriven one is
delivered."""

import json

import httpx
import pytest

from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from tests.acceptance.site import Site, accepted, eventually, post
from tests.acceptance.towns import Reader, Town
from tests.factories import BODY

WHY = "the partner asks for it"
_JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def towns(site: Site, portal: httpx.Client) -> tuple[Town, Town]:
    return Town(site, portal), Town(site, portal)


@pytest.fixture(scope="module")
def town(towns: tuple[Town, Town]) -> Town:
    return towns[0]


@pytest.fixture(scope="module")
def eve(town: Town) -> Reader:
    return town.reader(UserRole.SUPER_ADMIN, domain="gatepost")


def test_each_sees_their_part(towns: tuple[Town, Town], eve: Reader) -> None:
    town, other = towns
    assert town.of_a.found() == {town.a, town.failed}
    assert town.of_b.found() == {town.b}
    assert town.admin.found() == town.messages
    assert town.admin.found(client="b") == {town.b}
    assert town.admin.found(status="failed") == {town.failed}
    assert eve.found() >= town.messages | other.messages
    assert eve.found(domain=other.domain) == other.messages


def test_who_looks_across_the_walls_is_written_down(towns: tuple[Town, Town], eve: Reader) -> None:
    _, other = towns
    eve.found(domain=other.domain)
    eve.get(f"/messages/{other.a}")
    eve.get("/failed", domain=other.domain)
    eve.found("/failed/messages", domain=other.domain)
    eve.post("/failed/redrives", domain=other.domain)
    looks = ("messages.listed", "message.seen", "failed.counted", "failed.listed")
    for action in (*looks, "redrive.counted"):
        assert other.audited(action), action


def test_a_number_is_looked_for_without_being_in_an_address(towns: tuple[Town, Town]) -> None:
    town, other = towns
    sender = town.admin.post("/messages/sender", number="+49 170 1234567").json()["sender"]
    assert "1234567" not in sender
    assert town.admin.found(sender=sender) == town.messages
    assert town.of_b.found(sender=sender) == {town.b}
    assert other.admin.found(sender=sender) == set()
    (listed,) = town.of_b.get("/messages").json()["messages"]
    assert listed["sender_number_masked"] == "+491****567"
    assert BODY not in town.admin.get("/messages").text


def test_a_message_tells_its_story_and_is_opened_for_who_may(town: Town, eve: Reader) -> None:
    path = f"/messages/{town.a}"
    said = town.of_a.get(path).json()
    assert said["why"].startswith("It was delivered ")
    assert said["timeline"][-1]["what"] == "Delivered"
    assert BODY not in json.dumps(said)
    mine = town.of_a.post(f"{path}/open")
    assert mine.headers["cache-control"] == "no-store"
    assert mine.json()["message_body"] == BODY
    for other in (town.admin, eve):
        refused = other.post(f"{path}/open")
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == "/reason"
        assert other.post(f"{path}/open", reason=WHY).json()["message_body"] == BODY
    reasons = [one["reason"] for one in town.audited("message.opened")]
    assert reasons == ["", WHY, WHY]


SHAPES = [
    *("x", "é", "€", "😀", "\u200d", "\x01", "\x7f", "\ud7ff", "\ue000", "\uffff", "\U0010ffff"),
    *('"', "\\", "\u2028", "\r\n", "\u202e", "e\u0301", "' -- \t%s{0}", "ab "),
]
LENGTHS = (1, 2, 15, 16, 17, 255, 256, 257, 999, 1000)


def test_what_was_sent_is_what_is_shown_whatever_its_length_and_its_characters(
    site: Site, portal: httpx.Client
) -> None:
    """To the last character; whether they came escaped or as they are, alone or in a batch."""
    town = Town(site, portal)
    bodies = [
        *(
            ("." * shape.isspace() + shape * 1000)[:length]
            for shape in SHAPES
            for length in (2, 1000)
        ),
        *("".join(chr(0x21 + (n * 7 + length) % 90) for n in range(length)) for length in LENGTHS),
        *(" padded ", "\n\ttabbed\n", "a\u00a0", "{}", "[1]", "null", "\ufeffmarked"),
    ]
    pair = site.issue(Identity(town.domain, Role.CLIENT, "letters"))
    with site.calling(pair.files) as client:
        sent = dict(zip(_sent(client, bodies), bodies, strict=True))
    eventually(lambda: not site.undelivered(list(sent)), "they are delivered")
    reader = town.reader(UserRole.USER, "letters")
    for message_id, body in sent.items():
        shown = reader.post(f"/messages/{message_id}/open").json()["message_body"]
        assert shown == body, ascii(body[:40])


def _sent(client: httpx.Client, bodies: list[str]) -> list[str]:
    """The longest alone, each in one spelling; all others in a batch, in the other."""
    items = [{"sender_number": "+491701234567", "message_body": one} for one in bodies]
    ids: dict[int, str] = {}
    rest = [n for n, one in enumerate(bodies) if len(one) < 1000 or n % 2]
    for n in set(range(len(bodies))) - set(rest):
        ids[n] = accepted(post(client, content=json.dumps(items[n]), headers=_JSON))
    text = json.dumps([items[n] for n in rest], ensure_ascii=False)
    answer = client.post("/api/v1/messages/batch", content=text.encode(), headers=_JSON)
    ids |= {n: one["message_id"] for n, one in zip(rest, answer.json()["items"], strict=True)}
    return [ids[n] for n in range(len(bodies))]


def test_no_answer_is_kept_on_the_way(town: Town, eve: Reader) -> None:
    paths = ("/messages", f"/messages/{town.a}", "/failed", "/failed/messages", "/failed/redrives")
    for path in paths:
        assert eve.get(path).headers["cache-control"] == "no-store", path
    for answer in (
        town.admin.post("/messages/sender", number="+49 170 1234567"),
        town.admin.post("/failed/redrives", reason="refused"),
        town.admin.post("/failed/discard", message_ids=[town.a], reason=WHY),
    ):
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")


def test_only_administrators_redrive_and_discard(town: Town) -> None:
    for answer in (
        town.of_a.get("/failed"),
        town.of_a.get("/failed/messages"),
        town.of_a.get("/failed/redrives"),
        town.of_a.post("/failed/redrive", message_ids=[town.failed]),
        town.of_a.post("/failed/discard", message_ids=[town.failed], reason=WHY),
        town.of_a.post("/failed/redrives"),
    ):
        assert answer.status_code == 403
        assert answer.json()["type"] == "urn:gatepost:problem:wrong-role"


def test_what_failed_is_counted_tried_dry_redriven_and_delivered(
    site: Site, portal: httpx.Client
) -> None:
    town = Town(site, portal)
    town.fail(town.b)
    (reason,) = town.admin.get("/failed").json()["reasons"]
    assert (reason["reason"], reason["count"], reason["redrivable"]) == ("refused", 2, True)
    assert town.admin.found("/failed/messages", reason="refused") == {town.failed, town.b}
    dry = town.admin.post("/failed/redrives", reason="refused", client="a").json()
    assert (dry["expected"], dry["redrive_id"]) == (1, None)
    assert not town.audited("redrive.started")
    order = {"reason": "refused", "rate_per_second": 50, "dry_run": False}
    begun = town.admin.post("/failed/redrives", **order).json()
    assert (begun["expected"], begun["state"]) == (2, "running")

    def delivered() -> bool:
        rows = [site.row(one) for one in (town.failed, town.b)]
        return all(row and (row["status"], row["generation"]) == ("delivered", 1) for row in rows)

    eventually(delivered, "they are delivered after all", 60)
    (shown,) = town.admin.get("/failed/redrives").json()["redrives"]
    assert (shown["state"], shown["redriven"]) == ("finished", 2)
    assert "after it was redriven once" in town.admin.get(f"/messages/{town.b}").json()["why"]


def test_what_is_discarded_stays_so(site: Site, portal: httpx.Client) -> None:
    town = Town(site, portal)
    refused = town.admin.post("/failed/discard", message_ids=[town.failed], reason=" ")
    assert refused.status_code == 422
    done = town.admin.post("/failed/discard", message_ids=[town.failed], reason=WHY).json()
    assert done["message_ids"] == [town.failed]
    again = town.admin.post("/failed/redrive", message_ids=[town.failed]).json()
    assert again["message_ids"] == []
    (entry,) = town.audited("message.discarded")
    assert entry == {"reason": WHY, "message_ids": [town.failed]}


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/messages", {"status": "waiting"}),
        ("/messages", {"before": "x"}),
        ("/messages", {"from": "2030-01-01", "to": "2029-01-01"}),
        ("/messages", {"sender": "CANARY"}),
        ("/messages", {"client": "a b"}),
        ("/messages/CANARY", {}),
        ("/failed/messages", {"reason": "é"}),
    ],
)
def test_what_is_not_on_the_list_is_refused_and_not_repeated(
    town: Town, path: str, query: dict[str, str]
) -> None:
    answer = town.admin.get(path, **query)
    assert answer.status_code == 422
    assert "CANARY" not in answer.text
