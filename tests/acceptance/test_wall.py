"""A domain is a wall (I12): two domains, three people each, every route that takes an id.

Whatever isn't theirs, they can't tell from what isn't there: by its status, its body, its headers.
The routes come from the applications, the main server's and the portal's. One that takes an id of a
kind that isn't known here fails, and so does one that isn't sorted.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi.routing import APIRoute

from gatepost.trust.identity import Role
from main_server.people.users.repository import User
from main_server.process import create_app
from tests.acceptance.portal.browser import Browser
from tests.acceptance.portal.routes import PORTAL_ROUTES
from tests.acceptance.site import Site
from tests.acceptance.test_roles import roles_of, routes_of
from tests.acceptance.towns import Reader, Town, report_on
from tests.factories import ids
from tests.integration.main_server.new_people import PASSWORD

READERS = ("of_a", "of_b", "admin")
NOT_COMPARED = {"date", "x-request-id", "server-timing"}
WHY = "the partner asks for it"
PREFIX = "/api/portal"


def _routes(found: Any) -> list[tuple[str, str]]:
    return [
        (method, path.removeprefix(PREFIX))
        for path, route in found
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
        if method != "HEAD"  # GET without the page
    ]


APP = create_app(None)  # type: ignore[arg-type]
MAIN = _routes(
    (path, route)
    for path, route in routes_of(APP.api)
    if Role.PORTAL in (roles_of(route) or ()) and not path.startswith("/internal/")
)
"""What the portal may ask for people, without `/api/portal`, which most of it begins with."""
PORTAL = _routes(PORTAL_ROUTES)

ACTS = {
    "/users/{user_id}/{act}": ("disable", "enable", "sign-out", "reset-second-step"),
    "/clients/{client_id}/{act}": ("disable", "enable"),
}
"""What may stand for `{act}` in an address."""
SAID: dict[str, dict[str, Any]] = {
    "/messages/{message_id}/open": {"reason": WHY},
    "/domains/{domain}/disable": {"reason": WHY},
    "/retention/domains/{domain}/holds": {"reason": WHY},
    "/retention/clients/{client_id}/holds": {"reason": WHY},
    "/retention/holds/{hold_id}/lift": {"reason": WHY},
    "/users/{user_id}/rights": {"role": "user", "client_ids": []},
}
"""What is sent along, so that the id is what an answer hangs on."""
IN_BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "/failed/redrive": ("message_id", {"message_ids": ["ID"]}),
    "/failed/discard": ("message_id", {"message_ids": ["ID"], "reason": WHY}),
    "/certificates/revoke": ("serial", {"serial": "ID"}),
    "/certificates/hold": ("client_id", {"client_id": "ID"}),
    "/certificates/release": ("serial", {"serial": "ID"}),
}
"""Ids that aren't in the address."""
WITHOUT_ID = {
    "/session", "/session/refresh", "/password", "/password/reset", "/time-zone",
    "/messages/sender", "/failed/redrives", "/users", "/certs", "/clients", "/tokens",
    "/domains", "/audit/check", "/session/proof", "/session/second-step",
    "/second-step", "/second-step/confirm", "/second-step/recovery-codes", "/second-step/off",
}  # fmt: skip
"""What is posted here concerns oneself, or makes what is new in one's own domain."""
LISTS = {"/messages", "/failed", "/failed/messages", "/failed/redrives", "/users"}
LISTS |= {"/certificates", "/clients", "/tokens", "/endings", "/domains", "/audit", "/reports"}
OF_EVERYBODY = {"/keys", "/session", "/audit/check", "/overview", "/second-step"}
"""Lists of nothing. What the overview counts changes by itself: its wall is tested where it is."""
PAGES_OF_EVERYBODY = {"/static/{name}", "/d/{domain}/login", "/password/{token}"}


@pytest.fixture(scope="module")
def towns(site: Site, portal: httpx.Client) -> tuple[Town, Town]:
    towns = Town(site, portal), Town(site, portal)
    for town in towns:
        report_on(site.engine, town.domain)
    return towns


@pytest.fixture(scope="module")
def redrives(towns: tuple[Town, Town]) -> dict[str, str]:
    """One of each domain, which is over; what it redrove has failed again."""
    order = {"dry_run": False, "reason": "refused"}
    begun = {
        one.domain: one.admin.post("/failed/redrives", **order).json()["redrive_id"]
        for one in towns
    }
    for town in towns:
        town.site.wait_delivered(town.failed, seconds=60)
        town.fail(town.failed)
    return begun


class Wall:
    """What is whose, by the name that routes have for it."""

    def __init__(self, redrives: dict[str, str]) -> None:
        self._redrives = redrives

    def foreign(self, kind: str, town: Town, theirs: Town, reader: str) -> list[str]:
        """What exists and isn't this reader's."""
        found = self._of(kind, theirs)
        if kind == "message_id" and reader == "of_b":
            found = [*found, town.a, town.failed]
        return found

    def nothing(self, kind: str) -> str:
        """What doesn't exist."""
        return _KINDS[kind][1]()

    def _of(self, kind: str, town: Town) -> list[str]:
        if kind == "redrive_id":
            return [self._redrives[town.domain]]
        return _KINDS[kind][0](town)


_KINDS: dict[str, tuple[Callable[[Town], list[str]], Callable[[], str]]] = {
    "message_id": (lambda town: [town.a, town.failed, town.b], lambda: str(ids.new())),
    "redrive_id": (lambda _: [], lambda: str(ids.new())),
    "domain": (lambda town: [town.domain], lambda: f"{uuid4().hex[:12]}.example"),
    "user_id": (lambda town: [_id(one) for one in town.people], lambda: str(uuid4())),
    "serial": (lambda town: _held(town, "/certificates", "serial"), lambda: uuid4().hex),
    "client_id": (
        lambda town: _held(town, "/clients", "client_id"),
        lambda: f"{uuid4().hex}.example:a",
    ),
    "hold_id": (lambda town: [one["hold"] for one in _holds(town)], lambda: str(uuid4())),
    "token": (lambda town: _held(town, "/tokens", "token"), lambda: uuid4().hex * 2),
}


def _held(town: Town, path: str, name: str) -> list[str]:
    """As its administrator sees it."""
    found = [one[name] for one in town.admin.get(path).json()[path.strip("/")]]
    assert found
    return found


def _holds(town: Town) -> list[dict[str, str]]:
    """Legal holds on its client."""
    found: list[dict[str, str]]
    found = town.admin.get(f"/retention/clients/{town.domain}:a").json()["holds"]
    assert found
    return found


def _id(user: User) -> str:
    return str(UUID(bytes=user.user_id))


@pytest.fixture(scope="module")
def wall(towns: tuple[Town, Town], redrives: dict[str, str]) -> Wall:
    for town in towns:
        assert town.admin.post("/tokens", client_id="a").status_code == 201
        held = town.admin.post(f"/retention/clients/{town.domain}:a/holds", reason=WHY)
        assert held.status_code == 201
    return Wall(redrives)


def with_id(routes: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each route that names one, with its act."""
    found = [one for one in routes if "{" in one[1] and one[1] not in PAGES_OF_EVERYBODY]
    return [
        (method, path.replace("{act}", act))
        for method, path in found
        for act in (ACTS[path] if "{act}" in path else ("",))
    ]


def each_pair(towns: tuple[Town, Town]) -> Iterator[tuple[Town, Town, str]]:
    for town, theirs in (towns, towns[::-1]):
        for reader in READERS:
            yield town, theirs, reader


def seen(answer: httpx.Response, *own: str) -> tuple[int, Any, dict[str, str]]:
    """An answer, without what is of this one request."""
    headers = {k: v for k, v in answer.headers.items() if k not in NOT_COMPARED}
    text = answer.text
    for one in (answer.headers["x-request-id"], *own):
        text = text.replace(one, "")
    text = re.sub(r'"created_at":"[^"]*"', "", text)  # of a dry run: when it was asked
    return answer.status_code, text, headers


@pytest.mark.parametrize(("method", "path"), with_id(MAIN))
def test_a_foreign_id_is_answered_as_one_that_is_not_there(
    towns: tuple[Town, Town], wall: Wall, method: str, path: str
) -> None:
    (kind,) = re.findall(r"\{(\w+)\}", path)
    said = {} if method == "GET" else {"json": SAID.get(path, {})}

    def ask(reader: Reader, id_: str) -> tuple[int, Any, Any]:
        return seen(reader.ask(method, path.replace(f"{{{kind}}}", id_), **said), id_)

    for town, theirs, name in each_pair(towns):
        reader: Reader = getattr(town, name)
        nothing = ask(reader, wall.nothing(kind))
        assert nothing[0] in (403, 404), nothing
        for id_ in wall.foreign(kind, town, theirs, name):
            assert ask(reader, id_) == nothing, (name, id_)


@pytest.mark.parametrize("path", IN_BODIES)
def test_one_in_a_body_is_answered_so_too(towns: tuple[Town, Town], wall: Wall, path: str) -> None:
    kind, body = IN_BODIES[path]

    def ask(reader: Reader, id_: str) -> tuple[int, Any, Any]:
        said = json.loads(json.dumps(body).replace("ID", id_))
        return seen(reader.post(path, **said), id_)

    for town, theirs, name in each_pair(towns):
        reader: Reader = getattr(town, name)
        nothing = ask(reader, wall.nothing(kind))
        for id_ in wall.foreign(kind, town, theirs, name):
            assert ask(reader, id_) == nothing, (name, id_)


@pytest.fixture(scope="module")
def browsers(site: Site, towns: tuple[Town, Town]) -> Iterator[dict[tuple[str, str], Browser]]:
    found = {}
    for town in towns:
        for name, user in zip(READERS, town.people, strict=False):
            browser = Browser(site)
            browser.sign_in(user.name, PASSWORD, f"/d/{user.domain}/login")
            found[town.domain, name] = browser
    yield found
    for browser in found.values():
        browser.http.close()


@pytest.mark.parametrize(("method", "path"), with_id(PORTAL))
def test_a_page_of_it_is_that_of_one_that_is_not_there(
    towns: tuple[Town, Town],
    wall: Wall,
    browsers: dict[tuple[str, str], Browser],
    method: str,
    path: str,
) -> None:
    (kind,) = re.findall(r"\{(\w+)\}", path)
    said = SAID.get(path, {})

    def ask(browser: Browser, id_: str) -> tuple[int, Any, Any]:
        there = path.replace(f"{{{kind}}}", id_)
        if method == "GET":
            return seen(browser.http.get(there), id_)
        fields = {name: value for name, value in said.items() if isinstance(value, str)}
        return seen(browser.send(there, "/account", **fields), id_)

    for town, theirs, name in each_pair(towns):
        browser = browsers[town.domain, name]
        nothing = ask(browser, wall.nothing(kind))
        assert nothing[0] in (403, 404), nothing
        (id_, *_) = wall.foreign(kind, town, theirs, name)
        assert ask(browser, id_) == nothing, (name, id_)


@pytest.mark.parametrize("path", sorted(LISTS))
def test_lists_and_counts_know_nothing_of_another_domain(
    towns: tuple[Town, Town], redrives: dict[str, str], path: str
) -> None:
    for town, other, name in each_pair(towns):
        reader: Reader = getattr(town, name)
        assert other.domain not in reader.get(path).text
        for asked in (
            {"domain": other.domain},
            {"client": f"{other.domain}:a"},
            {"client": f"{other.domain}:a", "domain": other.domain},
        ):
            nothing = {k: v.replace(other.domain, "no.example") for k, v in asked.items()}
            assert seen(reader.get(path, **asked)) == seen(reader.get(path, **nothing)), asked
    dry = {"dry_run": True, "reason": "refused"}
    theirs = towns[0].admin.post("/failed/redrives", domain=towns[1].domain, **dry)
    assert theirs.json()["expected"] == 0


@pytest.mark.parametrize("path", [p for m, p in PORTAL if m == "GET" and "{" not in p and p != "/"])
def test_no_page_names_another_domain(
    towns: tuple[Town, Town], browsers: dict[tuple[str, str], Browser], path: str
) -> None:
    for town, other, name in each_pair(towns):
        with browsers[town.domain, name].http.stream("GET", path) as page:
            live = page.headers.get("content-type", "").startswith("text/event-stream")
            text = next(page.iter_text()) if live else page.read().decode()
        assert page.status_code in (200, 303, 403, 404)
        assert other.domain not in text


def test_none_of_it_has_changed_anything(towns: tuple[Town, Town]) -> None:
    for town in towns:
        row = town.site.row(town.failed)
        assert row
        assert row["reason"] in ("refused", None)
        assert town.admin.get("/users").status_code == 200
        found = town.admin.get("/certificates").json()["certificates"]
        assert {one["status"] for one in found} == {"active"}
        assert not any(one["disabled_at"] for one in town.admin.get("/clients").json()["clients"])


def test_every_route_is_sorted() -> None:
    """Into those that take an id (by their address, or in the body), lists, and one's own."""
    plain = [(method, path) for method, path in MAIN if "{" not in path]
    assert {path for method, path in plain if method == "GET"} == LISTS | OF_EVERYBODY
    assert {path for method, path in plain if method == "POST"} == WITHOUT_ID | IN_BODIES.keys()
    assert {path for _, path in PORTAL} >= PAGES_OF_EVERYBODY
