"""The pages of domains and of the audit log: what is typed, what is asked, what is said."""

from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gatepost.wire.people import UserRole
from tests.unit.portal.browser import Browser

NOW = "2026-11-18T10:00:00.000Z"
DOMAIN: dict[str, Any] = {
    "domain": "b.example",
    "queue": "b:messages",
    "queue_prefix": "b",
    "former_queues": [],
    "max_undelivered": 1000,
    "retention_days": 30,
    "retention_is_usual": True,
    "created_at": NOW,
    "disabled_at": None,
    "clients": 2,
    "people": 3,
    "waiting": 4,
}
ENTRY = {
    "number": 7,
    "at": NOW,
    "actor": "gatepost://b.example/user/alice",
    "actor_in_words": "alice@b.example",
    "action": "user.created",
    "action_in_words": "added somebody",
    "domain": "b.example",
    "subject": "gatepost://b.example/user/bob",
    "subject_in_words": "bob@b.example",
    "details": [{"name": "role", "value": "admin"}],
}
ACTIONS = [{"action": "user.created", "in_words": "added somebody"}]
PAGE = {"entries": [ENTRY], "before": "1.1", "looked_back_to": None, "actions": ACTIONS}
CHECK = {
    "state": "whole",
    "actor_in_words": "eve@gatepost",
    "created_at": NOW,
    "ended_at": NOW,
    "entries": 1_234_567,
    "of": 1_234_567,
    "head": "1234567:ab",
    "up_to": NOW,
    "fault": None,
}


@pytest.fixture
async def eve(browser: Browser) -> Browser:
    browser.main.role = UserRole.SUPER_ADMIN
    browser.main.answers |= {
        "GET /domains": (200, {"domains": [DOMAIN]}),
        "POST /domains": (201, DOMAIN),
        "GET /domains/b.example": (200, DOMAIN),
        "POST /domains/b.example": (200, DOMAIN),
        "POST /domains/b.example/disable": (200, DOMAIN),
        "POST /domains/b.example/enable": (200, DOMAIN),
        "GET /audit": (200, PAGE),
        "GET /audit/check": (200, {"check": CHECK}),
        "POST /audit/check": (202, {"check": CHECK}),
    }
    await browser.sign_in()
    return browser


def asked(browser: Browser) -> dict[str, str]:
    return dict(browser.main.heard[-1].url.params)


async def test_a_domain_is_added_with_what_is_set(eve: Browser) -> None:
    answer = await eve.send(
        "/domains", domain=" B.example ", queue_prefix=" b ", max_undelivered="5", retention_days=""
    )
    assert answer.headers["location"] == "/domains/b.example?done=created"
    assert eve.main.said() == {
        "domain": "b.example",
        "queue_prefix": "b",
        "max_undelivered": 5,
        "retention_days": None,
        "time_zone": None,
    }
    page = await eve.get(answer.headers["location"])
    assert "The domain is there." in page.text


async def test_what_was_typed_stays_where_it_is_refused(eve: Browser) -> None:
    eve.main.refuse("POST /domains", 409, "name-taken", "There is a domain of this name.")
    page = await eve.send("/domains", domain="<b>", max_undelivered="5")
    assert page.status_code == 409
    assert 'value="&lt;b&gt;"' in page.text
    assert "There is a domain of this name." in page.text
    calls = len(eve.main.calls())
    page = await eve.send("/domains/b.example", max_undelivered="five", retention_days="7")
    assert page.status_code == 422
    assert "Max undelivered: is a number" in page.text
    assert 'value="five"' in page.text
    assert not [one for one in eve.main.calls()[calls:] if one.startswith("POST")]


async def test_what_disabling_does_is_said_before_and_why_is_asked(eve: Browser) -> None:
    page = (await eve.get("/domains/b.example")).text
    for words in ("Its 2 clients are", "Its 3 people who", "4 wait now", "Nothing is deleted"):
        assert words in page
    answer = await eve.send("/domains/b.example/disable", "/domains/b.example", reason="why")
    assert answer.headers["location"] == "/domains/b.example?done=disabled"
    assert eve.main.said() == {"reason": "why"}
    errors = [{"pointer": "/reason", "detail": "say why"}]
    eve.main.refuse("POST /domains/b.example/disable", 422, "invalid", errors=errors)
    page = (await eve.send("/domains/b.example/disable", "/domains/b.example")).text
    assert "Reason: say why" in page
    eve.main.answers["GET /domains/b.example"] = 200, DOMAIN | {"disabled_at": NOW}
    answer = await eve.send("/domains/b.example/enable", "/domains/b.example")
    assert answer.headers["location"] == "/domains/b.example?done=enabled"


@pytest.mark.parametrize("name", ["a%2Fb", "..%2Fusers", "é", "a%3Fb", "A"])
async def test_an_address_is_taken_for_no_more_than_a_domain(eve: Browser, name: str) -> None:
    assert (await eve.get(f"/domains/{name}")).status_code == 404
    assert not [one for one in eve.main.calls() if one.startswith("GET /domains")]


async def test_an_administrator_looks_and_changes_nothing(eve: Browser) -> None:
    eve.main.role = UserRole.ADMIN
    await eve.sign_in()
    for path in ("/domains", "/domains/b.example"):
        page = (await eve.get(path)).text
        assert "b.example" in page
        assert page.count("<form") == 1, "signing out is all that can be sent"


async def test_the_log_is_searched_and_each_name_leads_to_its_entries(eve: Browser) -> None:
    page = (await eve.get("/audit?actor=alice%40b.example&action=user.created&client=x")).text
    assert asked(eve) == {"actor": "alice@b.example", "action": "user.created"}
    assert "added somebody" in page
    assert "subject=gatepost%3A%2F%2Fb.example%2Fuser%2Fbob" in page
    older = unescape(page.rpartition('rel="next" href="')[2].partition('"')[0])
    query = parse_qs(urlsplit(older).query)
    assert (query["before"], query["action"]) == (["1.1"], ["user.created"])


async def test_what_can_not_be_searched_for_is_said_and_can_be_mended(eve: Browser) -> None:
    page = await eve.get("/audit?first=yesterday&actor=alice")
    assert page.status_code == 422
    assert 'value="yesterday"' in page.text
    assert "added somebody" in page.text, "the actions are still there to choose from"
    assert "bob@b.example" not in page.text


async def test_a_check_says_how_far_it_is_until_it_is_done(eve: Browser) -> None:
    answer = await eve.send("/audit/check")
    assert (answer.status_code, answer.headers["location"]) == (303, "/audit/check")
    done = await eve.get("/audit/check")
    assert "all 1,234,567 entries are as they were written" in done.text
    assert "refresh" not in done.headers
    running = CHECK | {"state": "running", "ended_at": None, "entries": 1000}
    eve.main.answers["GET /audit/check"] = 200, {"check": running}
    page = await eve.get("/audit/check")
    assert "1,000 of 1,234,567 entries" in page.text
    assert page.headers["refresh"] == "2"
    broken = CHECK | {"state": "broken", "fault": "entry 7 was changed", "entries": 6}
    eve.main.answers["GET /audit/check"] = 200, {"check": broken}
    assert "No: entry 7 was changed." in (await eve.get("/audit/check")).text
