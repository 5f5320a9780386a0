"""The pages of messages on a running stack: what people find there, open, and redrive."""

import re
from collections.abc import Iterator
from html import escape
from uuid import uuid4

import httpx
import pytest

from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from main_server.people.users.repository import User
from tests.acceptance.portal.browser import Browser
from tests.acceptance.site import Site, eventually
from tests.acceptance.towns import NUMBER, Town
from tests.factories import ids
from tests.integration.main_server.new_people import PASSWORD

HOSTILE = "<script>alert(1)</script> {{ 7*7 }} &amp;"
WHY = "the partner asks for it"


@pytest.fixture(scope="module")
def town(site: Site) -> Iterator[Town]:
    pair = site.issue(Identity("gatepost", Role.PORTAL, f"portal-{uuid4().hex[:8]}"))
    with site.calling(pair.files, "main_server") as client:
        eventually(lambda: client.get("/api/portal/keys").status_code == 200, "it is known")
        yield Town(site, client, body=HOSTILE)


@pytest.fixture
def browser(site: Site) -> Iterator[Browser]:
    browser = Browser(site)
    yield browser
    browser.http.close()


def sign_in(browser: Browser, user: User) -> None:
    page = browser.sign_in(user.name, PASSWORD, f"/d/{user.domain}/login")
    assert page.status_code == 200, page.text


def listed(page: httpx.Response) -> set[str]:
    assert page.status_code == 200, page.text
    return set(re.findall(r'href="/messages/([0-9a-f-]{36})"', page.text))


def test_a_user_finds_their_own_opens_one_and_nothing_else(town: Town, browser: Browser) -> None:
    sign_in(browser, town.person(UserRole.USER, "a"))
    assert listed(browser.http.get("/messages")) == {town.a, town.failed}
    found = browser.send("/messages", number=NUMBER, client="a")
    assert listed(found) == {town.a, town.failed}
    assert listed(browser.send("/messages", number=NUMBER[:-1] + "0")) == set()
    assert NUMBER.strip("+") not in str(found.url)
    page = browser.http.get(f"/messages/{town.a}")
    assert "It was delivered" in page.text
    assert "alert(1)" not in page.text
    opened = browser.send(f"/messages/{town.a}/open", f"/messages/{town.a}")
    assert escape(HOSTILE, quote=False) in opened.text
    assert HOSTILE not in opened.text
    foreign = browser.http.get(f"/messages/{town.b}")
    nothing = browser.http.get(f"/messages/{ids.new()}")
    assert foreign.status_code == nothing.status_code == 404

    def same(page: httpx.Response) -> str:
        return page.text.replace(page.headers["x-request-id"], "").replace(str(page.url.path), "")

    assert same(foreign) == same(nothing)
    assert browser.http.get("/failed").status_code == 403


def test_an_administrator_says_why_and_redrives_what_failed(
    site: Site, town: Town, browser: Browser
) -> None:
    sign_in(browser, town.person(UserRole.ADMIN))
    path = f"/messages/{town.failed}"
    refused = browser.send(f"{path}/open", path, reason="")
    assert (refused.status_code, "say why you open" in refused.text) == (422, True)
    assert "alert(1)" in browser.send(f"{path}/open", path, reason=WHY).text
    assert [one["reason"] for one in town.audited("message.opened")][-1] == WHY
    assert listed(browser.http.get("/failed")) == {town.failed}
    dry = browser.send("/failed/redrives", "/failed", reason="refused")
    assert "Redrive 1 message?" in dry.text
    begun = browser.send("/failed/redrives", "/failed", reason="refused", rate="5")
    assert "It is under way" in begun.text

    def delivered() -> bool:
        row = site.row(town.failed)
        return row is not None and row["status"] == "delivered"

    eventually(delivered, "it is delivered after all", 60)
    page = browser.http.get("/failed")
    assert "Nothing has failed" in page.text
    assert "1 of 1" in page.text
