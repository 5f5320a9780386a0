"""People at the portal of a running stack, as their browsers do it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from main_server.people.users import links, service
from tests.acceptance.portal.browser import Browser
from tests.acceptance.site import Site, eventually
from tests.integration.main_server.new_people import PASSWORD, People

NEW = "another walk in the rain"


@pytest.fixture
def browsers(site: Site) -> Iterator[Any]:
    made: list[Browser] = []

    def make() -> Browser:
        made.append(Browser(site))
        return made[-1]

    yield make
    for one in made:
        one.http.close()


def test_the_first_admin_signs_in_as_the_stack_says(site: Site, browsers: Any) -> None:
    admin = site.status["admin"]
    file = Path(admin["password_file"])
    assert file.stat().st_mode & 0o777 == 0o600
    password = file.read_text().strip()
    browser = browsers()
    page = browser.sign_in(admin["user"], password)
    assert (page.status_code, page.url.path) == (200, "/overview")
    assert "super-admin" in browser.http.get("/account").text
    for log in site.stack.place.logs.glob("*.log*"):
        assert password not in log.read_text(errors="replace"), log


def test_a_person_signs_in_at_their_domain_and_out_again(people: People, browsers: Any) -> None:
    people.with_password(client_ids=frozenset({"example.com:client_001"}))
    browser = browsers()
    page = browser.sign_in(people.name, PASSWORD, "/d/example.com/login")
    assert page.url.path == "/messages"
    page = browser.http.get("/account")
    assert "example.com:client_001" in page.text
    assert "this is the first time" in page.text
    assert browser.is_in()
    page = browser.send("/logout", "/account")
    assert (page.url.path, "You are signed out" in page.text) == ("/d/example.com/login", True)
    assert not browser.is_in()
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    assert "this is the first time" not in browser.http.get("/account").text


def test_a_stolen_cookie_is_worth_nothing_after_signing_out(people: People, browsers: Any) -> None:
    people.with_password()
    browser, thief = browsers(), browsers()
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    thief.http.cookies.update(browser.http.cookies)
    assert thief.is_in()
    browser.send("/logout", "/account")
    assert not thief.is_in()


@pytest.mark.parametrize("how", ["everywhere", "password", "disabled", "link"])
def test_all_browsers_are_out_at_once(people: People, browsers: Any, how: str) -> None:
    user = people.with_password()
    name = f"{people.name}@example.com"
    here, there = browsers(), browsers()
    for browser in (here, there):
        assert browser.sign_in(name, PASSWORD).url.path == "/messages"
    match how:
        case "everywhere":
            here.send("/logout-everywhere", "/account")
        case "password":
            filled = {"current": PASSWORD, "new": NEW, "again": NEW}
            page = here.send("/account/password", "/account", **filled)
            assert "Your new password is set" in page.text
        case "disabled":
            service.disable(people.engine, user, people.now, "tester")
        case "link":
            token = links.make_link(people.engine, user, people.now, "tester")
            page = browsers().send(f"/password/{token}", new=NEW, again=NEW)
            assert "Your new password is set" in page.text
    assert not here.is_in()
    assert not there.is_in()
    works = {"everywhere": PASSWORD, "password": NEW, "disabled": "", "link": NEW}[how]
    assert (here.sign_in(name, works or PASSWORD).url.path == "/messages") is bool(works)


def test_a_wrong_password_and_a_wrong_name_look_the_same(people: People, browsers: Any) -> None:
    people.with_password()

    def said(name: str) -> tuple[int, str]:
        answer = browsers().sign_in(f"{name}@example.com", "wrong")
        alert = re.search(r'role="alert">(.*?)</div>', answer.text)
        assert alert, answer.text
        return answer.status_code, alert[1]

    assert (
        said(people.name)
        == said("nobody-at-all")
        == (
            401,
            "The name or the password is wrong.",
        )
    )


def test_without_the_main_server_it_says_so_and_nobody_is_signed_out(
    site: Site, people: People, browsers: Any
) -> None:
    people.with_password()
    browser = browsers()
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    before = site.pids("main_server")[0]
    with site.without("main_server"):
        answer = browser.http.get("/account")
        assert answer.status_code == 503
        assert "The main server can&#39;t be asked just now" in answer.text
        eventually(lambda: "portal" in site.missing(), "it isn't ready", 90)
    site.back("main_server", before)
    site.wait_ready()
    assert browser.is_in()
