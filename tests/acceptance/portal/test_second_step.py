"""The second step at the portal of a running stack: an authenticator, its codes, recovery codes.

The stack is one of development, which demands it of nobody; where a test wants it demanded, the
main server is started anew with the setting for it.
"""

import re
from base64 import b32decode, b32encode
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import jwt
import pytest
import yaml

from gatepost.wire.people import UserRole
from main_server.people.second_step import codes
from tests.acceptance.portal.browser import Browser
from tests.acceptance.site import Site
from tests.integration.main_server.new_people import PASSWORD, People

PAGE = "/account/second-step"


@pytest.fixture
def browser(site: Site) -> Iterator[Browser]:
    one = Browser(site)
    yield one
    one.http.close()


@pytest.fixture(scope="module")
def demanding(site: Site) -> Iterator[None]:
    """The main server demands it, as everywhere outside development."""
    start_anew(site, second_step_in_development=True)
    yield
    start_anew(site)


def start_anew(site: Site, **settings: bool) -> None:
    file = site.stack.place.config / "main_server.yaml"
    tree = yaml.safe_load(file.read_text())
    tree.pop("second_step_in_development", None)
    before = site.pids("main_server")[0]
    with site.without("main_server"):
        file.write_text(yaml.safe_dump(tree | settings))
    site.back("main_server", before)
    site.wait_ready()


def key_on(page: httpx.Response) -> bytes:
    found = re.search(r'id="key">([A-Z2-7-]+)<', page.text)
    assert found, page.text
    return b32decode(found[1].replace("-", ""))


def code_of(secret: bytes, later: int = 0) -> str:
    """Of now, or of the next half minute: both are taken for half a minute at least."""
    return codes.code_at(secret, codes.step_at(datetime.now(UTC)) + later)


def set_up(browser: Browser) -> tuple[bytes, list[str]]:
    secret = key_on(browser.send(PAGE))
    page = browser.send(f"{PAGE}/confirm", PAGE, code=code_of(secret))
    recovery = re.findall(r'<li class="gp-code">([A-Z2-7-]+)<', page.text)
    assert len(recovery) == 10, page.text
    return secret, recovery


def test_a_user_sets_one_up_and_is_asked_for_a_code_from_then_on(
    site: Site, browser: Browser, people: People
) -> None:
    people.with_password()
    name = f"{people.name}@example.com"
    browser.sign_in(name, PASSWORD)
    assert "none" in browser.http.get("/account").text
    secret = key_on(browser.send(PAGE))
    picture = browser.http.get(f"{PAGE}/key.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.headers["cache-control"] == "no-store"
    page = browser.send(f"{PAGE}/confirm", PAGE, code=code_of(secret))
    assert "shown here and now only" in page.text
    assert browser.http.get(f"{PAGE}/key.svg").status_code == 404
    browser.send("/logout", "/account")
    assert browser.sign_in(name, PASSWORD).url.path == "/login/code"
    for path in ("/messages", "/account", PAGE):
        sent = browser.http.get(path)
        assert sent.status_code == 303, path
        assert sent.headers["location"].startswith("/login/code?next="), path
    refused = browser.send("/login/code", code="000000")
    assert (refused.status_code, "This code is not right" in refused.text) == (422, True)
    assert browser.send("/login/code", code=code_of(secret, 1)).url.path == "/messages"
    assert "given a code" in browser.http.get("/account").text


def test_every_code_is_good_once_and_in_no_log(
    site: Site, browser: Browser, people: People
) -> None:
    people.with_password()
    name = f"{people.name}@example.com"
    browser.sign_in(name, PASSWORD)
    secret, recovery = set_up(browser)
    code = code_of(secret, 1)

    def given(typed: str) -> httpx.Response:
        browser.http.cookies.clear()
        assert browser.sign_in(name, PASSWORD).url.path == "/login/code"
        return browser.send("/login/code", code=typed)

    assert given(code).url.path == "/messages"
    assert given(code).status_code == 422, "it was used"
    assert given(recovery[4].lower()).url.path == "/messages"
    assert "9 of them are left" in browser.http.get(PAGE).text
    assert given(recovery[4]).status_code == 422, "so was this"
    logs = [site.stack.place.log(name).read_text() for name in ("main_server", "portal")]
    hidden = [codes.key_in_words(secret), b32encode(secret).decode(), *recovery]
    assert [one for one in hidden for log in logs if one in log] == []


def test_half_a_session_is_worth_nothing_and_ends_with_the_code(
    site: Site, browser: Browser, people: People
) -> None:
    """A token of it is a good one to the letter; what counts is what the ledger says of it."""
    people.with_password()
    name = f"{people.name}@example.com"
    browser.sign_in(name, PASSWORD)
    secret, _ = set_up(browser)
    browser.send("/logout", "/account")
    browser.sign_in(name, PASSWORD)
    thief = Browser(site)
    thief.http.cookies.update(browser.http.cookies)
    before = jwt.decode(browser.http.cookies["__Host-access"], options={"verify_signature": False})
    assert browser.send("/login/code", code=code_of(secret, 1)).url.path == "/messages"
    after = jwt.decode(browser.http.cookies["__Host-access"], options={"verify_signature": False})
    assert after["sid"] != before["sid"]
    assert not thief.is_in()
    sent = thief.http.get("/messages").headers["location"]
    assert sent.partition("?")[0] in ("/d/example.com/login", "/login", "/login/code")
    thief.http.close()


def test_who_administers_does_nothing_before_one_is_set_up(
    browser: Browser, people: People, demanding: None
) -> None:
    people.with_password(role=UserRole.ADMIN)
    name = f"{people.name}@example.com"
    page = browser.sign_in(name, PASSWORD)
    assert page.url.path == PAGE
    assert "Nothing else can be done until then" in page.text
    for path in ("/messages", "/failed", "/users", "/account"):
        sent = browser.http.get(path)
        assert (sent.status_code, sent.headers["location"]) == (303, PAGE), path
    secret, _ = set_up(browser)
    assert browser.http.get("/users").status_code == 200
    browser.send("/logout", "/account")
    assert browser.sign_in(name, PASSWORD).url.path == "/login/code"
    assert browser.send("/login/code", code=code_of(secret, 1)).url.path == "/overview"


def test_who_becomes_an_administrator_sets_one_up_and_another_resets_it(
    site: Site, browser: Browser, people: People, demanding: None
) -> None:
    people.with_password(role=UserRole.ADMIN)
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    set_up(browser)
    them, theirs = People(site.engine), Browser(site)
    user_id = them.with_password().user_id.hex()
    theirs.sign_in(f"{them.name}@example.com", PASSWORD)
    assert theirs.is_in(), "a user does without"
    page = browser.send(f"/users/{user_id}/rights", f"/users/{user_id}", role="admin", clients="")
    assert "It is changed, and counts at once." in page.text
    assert not theirs.is_in()
    assert theirs.sign_in(f"{them.name}@example.com", PASSWORD).url.path == PAGE
    set_up(theirs)
    assert theirs.is_in()
    assert "Reset second step" in browser.http.get("/users", params={"name": them.name}).text
    page = browser.send(f"/users/{user_id}/reset-second-step", "/users")
    assert "Their authenticator is forgotten" in page.text
    assert not theirs.is_in()
    assert theirs.sign_in(f"{them.name}@example.com", PASSWORD).url.path == PAGE
    theirs.http.close()
    own = people.row().user_id.hex()
    refused = browser.send(f"/users/{own}/reset-second-step", "/users")
    assert (refused.status_code, "ask another" in refused.text) == (422, True)
    assert "user.second_step_reset" in them.audited()
