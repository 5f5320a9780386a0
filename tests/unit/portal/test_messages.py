"""The pages of messages: what becomes of what people type; no number gets into an address."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx
import pytest

from gatepost.wire.people import UserRole
from tests.unit.portal.browser import Browser

ID = str(UUID(int=7))
NOW = "2026-11-18T10:00:00.000Z"
NUMBER = "+49 170 1234567"
LISTED = {
    "message_id": ID,
    "client_id": "example.com:client_001",
    "domain": "example.com",
    "status": "failed",
    "reason": "refused",
    "reason_in_words": "the main server refused it for good",
    "created_at": NOW,
    "delivered_at": None,
    "due_at": None,
    "attempt_count": 1,
    "sender_number_masked": "+491****567",
}
MESSAGE = LISTED | {
    "queued_at": NOW,
    "expires_at": NOW,
    "generation": 0,
    "queue": "q",
    "duplicate_of": None,
    "readable": True,
    "why": "It was not delivered.",
    "timeline": [{"kind": "trouble", "at": None, "what": "Failed", "more": ""}],
}
REDRIVE = {
    "redrive_id": None,
    "domain": "example.com",
    "client_id": None,
    "reason": "refused",
    "rate_per_second": 10,
    "expected": 12,
    "redriven": 0,
    "state": None,
    "actor": "a",
    "created_at": NOW,
    "ended_at": None,
}


@pytest.fixture
async def signed_in(browser: Browser) -> Browser:
    page = {"messages": [LISTED], "before": "ff" * 16, "looked_back_to": None}
    reason = {"reason": "refused", "in_words": "x", "count": 12, "redrivable": True}
    reasons = {"reasons": [reason], "counted_since": None}
    browser.main.answers |= {
        "GET /messages": (200, page),
        f"GET /messages/{ID}": (200, MESSAGE),
        "POST /messages/sender": (200, {"sender": "ab" * 32}),
        f"POST /messages/{ID}/open": (
            200,
            {"message_id": ID, "sender_number_masked": "+4", "message_body": "<b>CANARY</b>"},
        ),
        "GET /failed": (200, reasons),
        "GET /failed/messages": (200, page),
        "GET /failed/redrives": (
            200,
            {"redrives": [REDRIVE | {"redrive_id": ID, "state": "running"}]},
        ),
        "POST /failed/redrives": (200, REDRIVE),
        "POST /failed/redrive": (200, {"message_ids": [ID]}),
        "POST /failed/discard": (200, {"message_ids": [ID]}),
        f"POST /failed/redrives/{ID}/stop": (200, REDRIVE | {"redrive_id": ID}),
    }
    await browser.sign_in()
    return browser


def asked(browser: Browser) -> dict[str, str]:
    return dict(browser.main.heard[-1].url.params)


def query(answer: httpx.Response) -> dict[str, list[str]]:
    assert answer.status_code == 303, answer.text
    return parse_qs(urlsplit(answer.headers["location"]).query)


async def test_what_is_typed_becomes_an_address_without_the_number(signed_in: Browser) -> None:
    typed = {"first": "2026-11-01", "last": "2026-11-18", "status": "failed", "number": NUMBER}
    answer = await signed_in.send("/messages", **typed, client="", stray="x")
    assert query(answer) == {
        "first": ["2026-11-01"],
        "last": ["2026-11-18"],
        "status": ["failed"],
        "sender": ["ab" * 32],
    }
    assert signed_in.main.said() == {"number": NUMBER, "domain": None}
    assert all("1234567" not in str(one.url) for one in signed_in.main.heard)
    await signed_in.get(answer.headers["location"])
    assert asked(signed_in) == {
        "from": "2026-11-01T00:00:00.000Z",
        "to": "2026-11-19T00:00:00.000Z",
        "status": "failed",
        "sender": "ab" * 32,
    }


@pytest.mark.parametrize("field", ["client", "domain"])
@pytest.mark.parametrize("typed", ["+491701234567", "é", "a b"])
async def test_what_was_typed_in_the_wrong_field_gets_into_no_address(
    signed_in: Browser, field: str, typed: str
) -> None:
    answer = await signed_in.send("/messages", **{field: typed})
    assert answer.status_code == 422
    assert "location" not in answer.headers


async def test_a_list_leads_to_each_message_and_to_older_ones(signed_in: Browser) -> None:
    page = await signed_in.get("/messages?status=failed")
    assert page.headers["cache-control"] == "no-store"
    assert f'href="/messages/{ID}"' in page.text
    assert f'href="/messages?status=failed&amp;before={"ff" * 16}"' in page.text
    await signed_in.get(f"/messages?before={'ff' * 16}")
    assert asked(signed_in) == {"before": "ff" * 16}


async def test_what_cannot_be_looked_for_is_said_where_it_was_typed(signed_in: Browser) -> None:
    wrong = await signed_in.get("/messages?first=yesterday")
    assert (wrong.status_code, "From: is a day, written as" in wrong.text) == (422, True)
    detail = [{"pointer": "/number", "detail": "is a + and 2 to 15 digits"}]
    signed_in.main.refuse("POST /messages/sender", 422, "invalid", errors=detail)
    wrong = await signed_in.send("/messages", number="0170 CANARY")
    assert (wrong.status_code, "Number: is a + and" in wrong.text) == (422, True)
    assert "CANARY" not in wrong.text
    lost = await signed_in.send("/messages", message_id="CANARY")
    assert (lost.status_code, "Message id: is 32 hex digits" in lost.text) == (422, True)
    assert "CANARY" not in lost.text


async def test_an_id_leads_to_its_message(signed_in: Browser) -> None:
    answer = await signed_in.send("/messages", message_id=f" {ID.upper()} ")
    assert answer.headers["location"] == f"/messages/{ID}"


async def test_a_body_is_in_the_answer_to_its_form_alone(signed_in: Browser) -> None:
    path = f"/messages/{ID}"
    assert "CANARY" not in (await signed_in.get(path)).text
    opened = await signed_in.send(f"{path}/open", path, reason="why")
    assert opened.status_code == 200
    assert "&lt;b&gt;CANARY&lt;/b&gt;" in opened.text
    assert opened.headers["cache-control"] == "no-store"
    calls = dict(zip(signed_in.main.calls(), signed_in.main.heard, strict=True))
    assert b'"reason":"why"' in calls[f"POST {path}/open"].content
    assert "CANARY" not in (await signed_in.get(path)).text


async def test_a_reason_that_is_wanted_is_asked_for_on_the_page(signed_in: Browser) -> None:
    detail = [{"pointer": "/reason", "detail": "say why you open it"}]
    signed_in.main.refuse(f"POST /messages/{ID}/open", 422, "invalid", errors=detail)
    page = await signed_in.send(f"/messages/{ID}/open", f"/messages/{ID}")
    assert page.status_code == 422
    assert "Reason: say why you open it" in page.text


async def test_all_that_match_are_counted_before_any_is_redriven(signed_in: Browser) -> None:
    dry = await signed_in.send("/failed/redrives", "/failed?reason=refused", reason="refused")
    assert (dry.status_code, "Redrive 12 messages?" in dry.text) == (200, True)
    assert (signed_in.main.said()["dry_run"], signed_in.main.said()["reason"]) == (True, "refused")
    begun = await signed_in.send(
        "/failed/redrives", "/failed", reason="refused", rate="25", last="2026-11-18"
    )
    assert begun.headers["location"] == "/failed?done=started#redrives"
    said = signed_in.main.said()
    assert (said["dry_run"], said["rate_per_second"]) == (False, 25)
    assert said["end"] == "2026-11-19T00:00:00.000Z"
    until = "2026-11-18T10:00:00.000Z"
    again = {"reason": "refused", "rate": "25", "last": "2026-11-18", "until": until}
    await signed_in.send("/failed/redrives", "/failed", **again)
    assert signed_in.main.said()["end"] == until, "what came after they were counted isn't meant"
    for rate in ("", "x", "-1", "٣", "99999"):
        wrong = await signed_in.send("/failed/redrives", "/failed", rate=rate, until=until)
        assert (wrong.status_code, "Redrive 12 messages?" in wrong.text) == (422, True), rate
        assert 'aria-describedby="refused-rate_per_second"' in wrong.text
        assert f'name="until" value="{until}"' in wrong.text
        assert signed_in.main.said()["dry_run"] is True


@pytest.mark.parametrize(
    ("do", "path", "said"),
    [
        ("redrive", "/failed/redrive", {"message_ids": [ID]}),
        ("discard", "/failed/discard", {"message_ids": [ID], "reason": "asked to"}),
    ],
)
async def test_the_chosen_are_redriven_or_discarded(
    signed_in: Browser, do: str, path: str, said: dict[str, Any]
) -> None:
    chosen = {f"message-{ID}": "1", "do": do, "why": "asked to", "reason": "refused"}
    answer = await signed_in.send("/failed", **chosen)
    done = {"redrive": "redriven", "discard": "discarded"}[do]
    assert answer.headers["location"] == f"/failed?reason=refused&done={done}-1"
    assert (signed_in.main.calls()[-1], signed_in.main.said()) == (f"POST {path}", said)


async def test_nothing_chosen_is_nothing_done(signed_in: Browser) -> None:
    answer = await signed_in.send("/failed", do="redrive")
    assert (answer.status_code, "Choose one message at least" in answer.text) == (422, True)


async def test_what_was_chosen_and_typed_stays_so_when_it_is_refused(signed_in: Browser) -> None:
    detail = [{"pointer": "/reason", "detail": "say why"}]
    signed_in.main.refuse("POST /failed/discard", 422, "invalid", errors=detail)
    chosen = {f"message-{ID}": "1", "do": "discard", "why": "so"}
    page = await signed_in.send("/failed", **chosen, reason="refused")
    assert page.status_code == 422
    box = re.search(f'<input [^>]*name="message-{ID}"[^>]*>', page.text)
    why = re.search('<input [^>]*id="why"[^>]*>', page.text)
    assert box
    assert why
    assert box[0].endswith(" checked>")
    assert 'value="so"' in why[0]
    assert 'aria-invalid="true" aria-describedby="refused-reason"' in why[0]
    assert '<div id="refused-reason">Reason: say why</div>' in page.text
    assert "<title>Not done: Failed messages · Gatepost</title>" in page.text
    assert asked(signed_in)["reason"] == "refused", "the list is still the one that was chosen from"


async def test_all_of_a_page_are_chosen_at_once(signed_in: Browser) -> None:
    page = await signed_in.get("/failed?reason=refused")
    assert " checked>" not in page.text
    assert 'href="/failed?reason=refused&amp;choose=all"' in page.text
    assert " checked>" in (await signed_in.get("/failed?reason=refused&choose=all")).text


@pytest.mark.parametrize(
    ("done", "words"),
    [
        ("started", "It is under way"),
        ("stopped", "It is stopped"),
        ("redriven-1", "Redriven: 1."),
        ("redriven-0", "None of them was redriven"),
        ("discarded-200", "Discarded: 200."),
        ("discarded-0", "None of them was discarded"),
        ("redriven-call +1 555 0100", None),
        ("redriven-٣", None),
        ("redriven-1000", None),
        ("redriven-01", None),
        ("redriven-1\n", None),
        ("redriven", None),
        ("started-5", None),
        ("eaten-3", None),
    ],
)
async def test_of_what_an_address_says_is_done_ours_alone_is_said(
    signed_in: Browser, done: str, words: str | None
) -> None:
    page = (await signed_in.http.get("/failed", params={"done": done})).text
    said = re.search('<div class="alert alert-success" role="status">([^<]*)</div>', page)
    assert (words in said[1]) if said and words else (said, words) == (None, None)


async def test_what_a_list_of_failed_ones_cannot_be_narrowed_to_is_said_there(
    signed_in: Browser,
) -> None:
    page = await signed_in.get("/failed?client=a%20b")
    assert (page.status_code, "Client: is written as its name" in page.text) == (422, True)
    assert "Nothing has failed" not in page.text
    detail = [{"pointer": "/before", "detail": "is not what an answer of ours has said"}]
    signed_in.main.refuse("GET /failed/messages", 422, "invalid", errors=detail)
    page = await signed_in.get("/failed?before=x")
    assert (page.status_code, "Before: is not what" in page.text) == (422, True)


@pytest.mark.parametrize(
    ("role", "given", "offered"),
    [
        (UserRole.ADMIN, {}, True),
        (UserRole.USER, {}, False),
        (UserRole.ADMIN, {"status": "delivered", "reason": None}, False),
        (UserRole.ADMIN, {"reason": "discarded"}, False),
        (UserRole.ADMIN, {"reason": "unreadable"}, False),
        (UserRole.ADMIN, {"readable": False}, False),
    ],
)
async def test_one_that_failed_is_redriven_from_its_page(
    browser: Browser, role: UserRole, given: dict[str, Any], offered: bool
) -> None:
    browser.main.role = role
    browser.main.answers |= {
        f"GET /messages/{ID}": (200, MESSAGE | given),
        "POST /failed/redrive": (200, {"message_ids": [ID]}),
    }
    await browser.sign_in()
    page = await browser.get(f"/messages/{ID}")
    assert (f'name="message-{ID}"' in page.text) is offered
    if offered:
        done = await browser.send(
            "/failed", f"/messages/{ID}", do="redrive", **{f"message-{ID}": "1"}
        )
        assert done.headers["location"] == "/failed?done=redriven-1"


async def test_a_redrive_is_stopped(signed_in: Browser) -> None:
    answer = await signed_in.send(f"/failed/redrives/{ID}/stop", "/failed")
    assert answer.headers["location"] == "/failed?done=stopped#redrives"
    assert signed_in.main.calls()[-1] == f"POST /failed/redrives/{ID}/stop"


async def test_who_may_not_is_told_so(signed_in: Browser) -> None:
    signed_in.main.refuse("GET /failed", 403, "wrong-role", "Your role may not do this.")
    answer = await signed_in.get("/failed")
    assert (answer.status_code, "Your role may not do this." in answer.text) == (403, True)
