"""Reports: what is asked for, at which times; charts by us alone; words before the first run."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from gatepost.wire.people import UserRole
from tests.unit.portal.browser import Browser
from tests.unit.portal.report_cases import EMPTY, reports


def document(**given: Any) -> Any:
    fine = {"domain": "example.com", "client": None} | given
    return msgspec.to_builtins(reports(**fine), str_keys=True)


@pytest.fixture
async def admin(browser: Browser) -> Browser:
    browser.main.role = UserRole.ADMIN
    browser.main.answers["GET /reports"] = 200, document()
    await browser.sign_in()
    await browser.get("/account")
    return browser


def asked(browser: Browser) -> dict[str, list[str]]:
    heard = [one for one in browser.main.heard if one.url.path.endswith("/reports")]
    return parse_qs(heard[-1].url.query.decode())


async def test_who_administers_has_it_in_the_menu(admin: Browser) -> None:
    assert 'href="/reports" aria-current="page"' in (await admin.get("/reports")).text
    other = Browser()
    await other.sign_in()
    assert 'href="/reports"' not in (await other.get("/account")).text


async def test_charts_need_no_script_and_no_style_of_their_own(admin: Browser) -> None:
    page = await admin.get("/reports")
    assert page.status_code == 200
    for inline in ("<style", " style=", "<script", "javascript:", " onclick="):
        assert inline not in page.text
    assert "script-src" not in page.headers["content-security-policy"]
    assert page.text.count('role="img"') == page.text.count("<desc ") == 9
    assert page.text.count("The same as a table") == 9


async def test_who_may_count_twice_is_told_to(admin: Browser) -> None:
    text = (await admin.get("/reports")).text
    assert "at most 1,234" in text
    assert "upper bound" in text
    admin.main.answers["GET /reports"] = 200, document(senders={"number": 7, "upper_bound": False})
    assert "at most" not in (await admin.get("/reports")).text.partition("<h2")[0]


async def test_waits_and_attempts_have_a_section(admin: Browser) -> None:
    text = (await admin.get("/reports")).text.partition(">Waiting and attempts</h2>")[2]
    for words in ("Waited for the first attempt", "Failed attempts took", "10+"):
        assert words in text
    assert "not in it" not in text
    admin.main.answers["GET /reports"] = 200, document(attempts=None)
    text = (await admin.get("/reports")).text
    assert "2 of the days are not in it" in text
    assert "Waited for" not in text


async def test_days_are_passed_on_as_they_are_whatever_the_zone(admin: Browser) -> None:
    admin.main.time_zone = "Pacific/Auckland"
    await admin.get("/reports?first=2026-11-01&last=2026-11-17&client=a")
    assert asked(admin) == {"from": ["2026-11-01"], "to": ["2026-11-17"], "client": ["a"]}
    await admin.get("/reports")
    assert asked(admin) == {}


@pytest.mark.parametrize("query", ["first=yesterday", "client=%2B491701234567", "last=2026-11"])
async def test_what_can_not_be_asked_for_is_told_and_the_usual_is_shown(
    admin: Browser, query: str
) -> None:
    page = await admin.get(f"/reports?{query}")
    assert page.status_code == 422
    assert asked(admin) == {}
    assert 'role="alert"' in page.text


async def test_what_the_main_server_refuses_is_told_beside_the_usual(admin: Browser) -> None:
    detail = {"pointer": "/from", "detail": "is more than 366 days before"}
    admin.main.refuse("GET /reports", 422, "invalid", errors=[detail])
    page = await admin.get("/reports?first=2020-01-01")
    assert page.status_code == 422


async def test_other_times_are_one_click_away(admin: Browser) -> None:
    admin.main.answers["GET /reports"] = 200, document(first="2026-01-05", last="2026-01-20")
    text = (await admin.get("/reports?client=a")).text
    assert "first=2026-01-01&amp;last=2026-01-31&amp;client=a" in text
    assert "first=2025-12-01&amp;last=2025-12-31&amp;client=a" in text
    assert urlsplit("/reports?first=2026-02-01&last=2026-02-28").query.replace("&", "&amp;") in text


async def test_before_the_first_run_it_says_so(admin: Browser) -> None:
    nothing = EMPTY | {"published_first": None, "published_until": None, "last_run": None}
    admin.main.answers["GET /reports"] = 200, document(**nothing)
    text = (await admin.get("/reports")).text
    assert "No report yet" in text
    assert "There was no run yet" in text
    assert "<svg" not in text


async def test_a_user_is_told_that_they_may_not(admin: Browser) -> None:
    admin.main.refuse("GET /reports", 403, "wrong-role")
    assert (await admin.get("/reports")).status_code == 403
