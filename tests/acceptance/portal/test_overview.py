"""The overview on a running stack: what is sent and delivered shows, live, to whom it may; and a
stream ends with its session, and doesn't keep the portal from ending."""

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from gatepost.wire.people import UserRole
from main_server.people.users import service
from main_server.people.users.repository import User
from main_server.store.database import transact
from main_server.store.tables import users
from tests.acceptance.portal.browser import Browser
from tests.acceptance.site import Site, accepted, eventually, post
from tests.integration.main_server.new_people import PASSWORD, People

ENDS_SECONDS = 3.0
"""A stream asks anew every 1.5 s."""


@pytest.fixture
def browser(site: Site) -> Iterator[Browser]:
    browser = Browser(site)
    yield browser
    browser.http.close()


def sign_in(browser: Browser, user: User) -> None:
    page = browser.sign_in(user.name, PASSWORD, f"/d/{user.domain}/login")
    assert page.status_code == 200, page.text


def sums(html: str) -> dict[str, int]:
    """How many in all were accepted, and delivered."""
    found = re.findall(r'data-part="(\w+)">(?:(?!data-part).)*?([\d,]+) in all', html, re.DOTALL)
    return {name: int(value.replace(",", "")) for name, value in found}


class Following:
    """A browser's stream, read in a thread until it ends."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.pictures: list[str] = []
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            with self._browser.http.stream("GET", "/overview/stream") as answer:
                assert answer.status_code == 200
                for line in answer.iter_lines():
                    if line.startswith("data: "):
                        self.pictures.append(json.loads(line[6:]))
        except httpx.HTTPError:
            pass
        self.ended.set()

    def begins(self) -> None:
        eventually(lambda: self.pictures, "the stream begins")


def test_what_is_sent_shows_in_the_picture_that_goes_on(
    site: Site, browser: Browser, people: People
) -> None:
    sign_in(browser, people.with_password(role=UserRole.ADMIN))
    following = Following(browser)
    following.begins()
    before = sums(following.pictures[-1])
    with site.calling() as client:
        sent = [accepted(post(client)) for _ in range(30)]
    site.wait_delivered(*sent)

    def counted() -> bool:
        now = sums(following.pictures[-1])
        more = {name: count - before.get(name, 0) for name, count in now.items()}
        return more["accepted"] >= 30 and more["delivered"] >= 30

    eventually(counted, "they are counted")
    page = browser.http.get("/overview").text
    assert sums(page)["accepted"] >= 30
    for part in ("Ledger", "Redis", "Proxies", "Workers", "Main servers", "Breakers", "Queue"):
        assert part in page
    # Another test may have ended a process a moment ago.
    eventually(lambda: "text-bg-danger" not in browser.http.get("/overview").text, "all is well")
    assert 'data-part="processes"' not in page, "which there are is for who runs the place"


def test_another_domains_administrator_sees_none_of_it(site: Site, browser: Browser) -> None:
    elsewhere = People(site.engine, domain="elsewhere.example")
    sign_in(browser, elsewhere.with_password(role=UserRole.ADMIN))
    with site.calling() as client:
        site.wait_delivered(accepted(post(client)))
    page = browser.http.get("/overview").text
    assert "example.com" not in page.replace("elsewhere.example", "")
    assert set(sums(page).values()) <= {0}


def test_who_runs_the_place_sees_each_process_and_domain(site: Site, browser: Browser) -> None:
    admin = site.status["admin"]
    password = Path(admin["password_file"]).read_text().strip()
    page = browser.sign_in(admin["user"], password)
    assert page.url.path == "/overview"
    pids = {str(pid) for name in ("proxy", "worker", "main_server") for pid in site.pids(name)[1:]}

    def shown() -> set[str]:
        return set(re.findall(r">([0-9]+)</td>", browser.http.get("/overview").text))

    eventually(lambda: pids <= shown(), "each is heard")
    page = browser.http.get("/overview")
    assert "example.com" in page.text
    query = "SELECT COUNT(*) FROM audit_log WHERE action = 'overview.seen'"
    assert transact(site.engine, lambda c: c.scalar(text(query)))


@pytest.mark.parametrize("how", ["signed out", "disabled", "made a user"])
def test_a_stream_ends_with_the_right_to_see_it(
    site: Site, browser: Browser, people: People, how: str
) -> None:
    user = people.with_password(role=UserRole.ADMIN)
    sign_in(browser, user)
    following = Following(browser)
    following.begins()
    other = Browser(site)
    other.http.cookies.update(browser.http.cookies)
    began = time.monotonic()
    match how:
        case "signed out":
            other.send("/logout-everywhere", "/account")
        case "disabled":
            service.disable(people.engine, user, people.now, "tester")
        case "made a user":
            change = users.update().where(users.c.user_id == user.user_id).values(role="user")
            transact(people.engine, lambda c: c.execute(change))
    assert following.ended.wait(ENDS_SECONDS + 5)
    assert time.monotonic() - began < ENDS_SECONDS + 2
    again = browser.http.get("/overview/stream")
    assert again.status_code in (303, 403)
    other.http.close()


def test_a_portal_that_stops_waits_for_no_stream(
    site: Site, browser: Browser, people: People
) -> None:
    sign_in(browser, people.with_password(role=UserRole.ADMIN))
    following = Following(browser)
    following.begins()
    began = time.monotonic()
    before = site.pids("portal")[0]
    with site.without("portal"):
        assert time.monotonic() - began < 8
        assert following.ended.wait(1)
    site.back("portal", before)
    site.wait_ready()
