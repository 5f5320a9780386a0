"""Pages that say what went wrong: what is told of it, and that who is signed in keeps the menu."""

from datetime import timedelta

import pytest

from gatepost.wire.people import UserRole
from portal import cookies
from tests.unit.portal.browser import Browser

MENU = 'class="gp-menu"'
DETAIL = [{"pointer": "/action", "detail": "is none of those that are written down"}]


@pytest.fixture
async def signed_in(browser: Browser) -> Browser:
    """Here this portal knows the main server's keys, as it does from its start on."""
    await browser.keys.ask(browser.main_server)
    await browser.sign_in()
    return browser


@pytest.mark.parametrize("path", ["/account", "/nothing", "/certificates/x"])
async def test_who_is_signed_in_keeps_the_menu(signed_in: Browser, path: str) -> None:
    signed_in.main.refuse("GET /session", 403, "wrong-role", "Your role may not do this.")
    page = await signed_in.get(path)
    assert page.status_code >= 400
    assert MENU in page.text
    assert 'action="/logout"' in page.text


async def test_it_is_the_menu_of_their_role(browser: Browser) -> None:
    browser.main.role = UserRole.ADMIN
    await browser.keys.ask(browser.main_server)
    await browser.sign_in()
    assert 'href="/audit"' in (await browser.get("/nothing")).text


async def test_it_is_there_while_the_main_server_is_away(signed_in: Browser) -> None:
    signed_in.main.away = True
    page = await signed_in.get("/account")
    assert (page.status_code, MENU in page.text) == (503, True)


@pytest.mark.parametrize("token", [None, "x.y.z"])
async def test_nobody_is_offered_none(browser: Browser, token: str | None) -> None:
    if token:
        browser.http.cookies.set(cookies.ACCESS, token)
    page = await browser.get("/nothing")
    assert (page.status_code, MENU in page.text) == (404, False)


async def test_a_token_that_is_over_is_not_replaced_for_it(signed_in: Browser) -> None:
    old = signed_in.main.token(timedelta(hours=1))
    signed_in.http.cookies.set(cookies.ACCESS, old, "portal.example")
    before = signed_in.main.calls()
    assert MENU not in (await signed_in.get("/nothing")).text
    assert signed_in.main.calls() == before


async def test_whose_token_was_replaced_on_the_way_keeps_it(signed_in: Browser) -> None:
    old = signed_in.main.token(timedelta(hours=1))
    signed_in.http.cookies.set(cookies.ACCESS, old, "portal.example")
    signed_in.main.refuse("GET /session", 403, "wrong-role", "Your role may not do this.")
    page = await signed_in.get("/account")
    assert (page.status_code, MENU in page.text) == (403, True)


async def test_a_page_says_which_value_is_not_allowed(browser: Browser) -> None:
    await browser.sign_in()
    browser.main.refuse("GET /session", 422, "invalid", "A value is not allowed.", errors=DETAIL)
    page = await browser.get("/account")
    assert page.status_code == 422
    assert "Action: is none of those that are written down" in page.text
    assert "A value is not allowed." not in page.text
    assert "<title>A value is not allowed · Gatepost</title>" in page.text


async def test_too_early_a_try_is_told_when_to_come_again(browser: Browser) -> None:
    browser.main.refuse("POST /session", 429, "too-many-tries", "Too many tries.", retry_after=7)
    page = await browser.sign_in()
    assert (page.status_code, page.headers["retry-after"]) == (429, "7")
    assert "You can try again in 7 s." in page.text
    assert browser.log.heard[-1]["problem"] == "urn:gatepost:problem:too-many-tries"
