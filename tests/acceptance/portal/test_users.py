"""Administrators and people, on a running stack: each within their domain (I12)."""

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import text

from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from main_server.store.database import transact
from tests.acceptance.portal.browser import Browser
from tests.acceptance.site import Site
from tests.integration.main_server.new_people import PASSWORD, People

NEW = "another walk in the rain"
OTHER = "other.example"


@pytest.fixture
def browser(site: Site) -> Iterator[Browser]:
    one = Browser(site)
    yield one
    one.http.close()


class Asker:
    """Somebody with a role, and the main server as they see it by way of the portal."""

    def __init__(
        self, site: Site, portal: httpx.Client, role: UserRole, domain: str = "example.com"
    ) -> None:
        self.people = People(site.engine, domain=domain)
        self.user = self.people.with_password(role=role)
        said = {"domain": domain, "name": self.people.name, "password": PASSWORD, "address": "x"}
        answer = portal.post("/api/portal/session", json=said)
        assert answer.status_code == 200, answer.text
        self._portal = portal
        self._headers = {"authorization": f"Bearer {answer.json()['access_token']}"}

    def get(self, path: str = "", **query: str) -> httpx.Response:
        return self._portal.get(f"/api/portal/users{path}", params=query, headers=self._headers)

    def session(self) -> httpx.Response:
        return self._portal.get("/api/portal/session", headers=self._headers)

    def post(self, path: str = "", **said: Any) -> httpx.Response:
        return self._portal.post(f"/api/portal/users{path}", json=said, headers=self._headers)


def shown(answer: httpx.Response) -> tuple[int, dict[str, Any], str | None]:
    said = answer.json() | {"request_id": ""}
    return answer.status_code, said, answer.headers.get("cache-control")


def test_an_administrator_adds_somebody_who_sets_a_password_and_is_put_out(
    site: Site, browser: Browser, people: People
) -> None:
    people.with_password(role=UserRole.ADMIN)
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    name = f"new-{uuid4().hex[:8]}"
    page = browser.send("/users", name=name, role="user", clients="client_001")
    link = re.search(r'value="(https://[^"]+/password/[^"]+)"', page.text)
    assert link, page.text
    theirs = Browser(site)
    path = link[1].removeprefix(theirs.url)
    assert "Your new password is set" in theirs.send(path, new=NEW, again=NEW).text
    assert theirs.sign_in(f"{name}@example.com", NEW).url.path == "/messages"
    listed = browser.http.get("/users", params={"name": name}).text
    assert name in listed
    assert "example.com:client_001" in listed
    found = People(site.engine, name=name)
    user_id = found.row().user_id.hex()
    page = browser.send(f"/users/{user_id}/sign-out", "/users")
    assert "Every session of the account has ended." in page.text
    assert not theirs.is_in()
    assert theirs.sign_in(f"{name}@example.com", NEW).url.path == "/messages"
    browser.send(f"/users/{user_id}/disable", "/users")
    assert not theirs.is_in()
    assert theirs.sign_in(f"{name}@example.com", NEW).status_code == 401
    browser.send(f"/users/{user_id}/enable", "/users")
    assert theirs.sign_in(f"{name}@example.com", NEW).url.path == "/messages"
    theirs.http.close()
    acts = [one for one in found.audited() if not one.startswith("session.")]
    assert acts == [
        "user.created", "user.link_made", "user.password_set",
        "user.signed_out", "user.disabled", "user.enabled",
    ]  # fmt: skip
    assert who_did(site, "user.disabled", name) == f"gatepost://example.com/user/{people.name}"


def who_did(site: Site, action: str, name: str) -> str:
    query = text("SELECT DISTINCT actor FROM audit_log WHERE subject = :s AND action = :a")
    about = {"s": f"gatepost://example.com/user/{name}", "a": action}
    return str(transact(site.engine, lambda c: c.execute(query, about).scalar_one()))


def test_a_wrong_name_is_told_and_what_was_typed_stays(browser: Browser, people: People) -> None:
    people.with_password(role=UserRole.ADMIN)
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    page = browser.send("/users", name="<b>bold</b>", role="user", clients="<i>")
    assert page.status_code == 422
    assert "&lt;b&gt;bold&lt;/b&gt;" in page.text
    page = browser.send("/users", name=people.name, role="user", clients="")
    assert (page.status_code, "There is somebody of this name" in page.text) == (409, True)
    own = people.row().user_id.hex()
    page = browser.send(f"/users/{own}/disable", "/users")
    assert (page.status_code, "another administrator" in page.text) == (422, True)


def test_a_user_administers_nobody(
    site: Site, portal: httpx.Client, browser: Browser, people: People
) -> None:
    asker = Asker(site, portal, UserRole.USER)
    somebody = people.create().user_id.hex()
    answers = [asker.get(), asker.post(name="x"), asker.post(f"/{somebody}/disable")]
    answers += [asker.post(f"/{somebody}/link")]
    assert [one.status_code for one in answers] == [403] * 4
    browser.sign_in(f"{asker.people.name}@example.com", PASSWORD)
    page = browser.http.get("/users")
    assert page.status_code == 403
    assert 'href="/users"' not in browser.http.get("/account").text


def test_rights_are_changed_and_count_at_once(site: Site, portal: httpx.Client) -> None:
    above = Asker(site, portal, UserRole.ADMIN)
    them = Asker(site, portal, UserRole.USER)
    path = f"/{them.user.user_id.hex()}"
    assert above.get(path).json()["client_ids"] == []
    wanted = {"role": "user", "client_ids": ["client_001"]}
    assert above.post(f"{path}/rights", **wanted).status_code == 204
    assert above.get(path).json()["client_ids"] == ["example.com:client_001"]
    assert them.session().json()["client_ids"] == ["example.com:client_001"], "no new session"
    assert above.post(f"{path}/rights", role="admin", client_ids=[]).status_code == 204
    assert them.session().status_code == 401, "another role, another session"
    query = text("SELECT details FROM audit_log WHERE subject = :s AND action = :a ORDER BY seq")
    about = {"s": f"gatepost://example.com/user/{them.people.name}", "a": "user.rights_changed"}
    said = transact(site.engine, lambda c: c.execute(query, about).scalars().all())
    assert [json.loads(one) for one in said] == [
        {
            "before": {"role": "user", "client_ids": []},
            "role": "user",
            "client_ids": ["example.com:client_001"],
        },
        {
            "before": {"role": "user", "client_ids": ["example.com:client_001"]},
            "role": "admin",
            "client_ids": [],
        },
    ]


def test_who_is_made_less_is_less_at_the_next_request(site: Site, portal: httpx.Client) -> None:
    """A token that says `admin` and is good for minutes yet says nothing."""
    above, below = Asker(site, portal, UserRole.ADMIN), Asker(site, portal, UserRole.ADMIN)
    statement = text("UPDATE users SET role = 'user' WHERE user_id = :user_id")
    about = {"user_id": below.user.user_id}
    assert below.get().status_code == 200
    transact(site.engine, lambda c: c.execute(statement, about))
    assert below.get().status_code == 403
    path = f"/{above.user.user_id.hex()}/rights"
    assert below.post(path, role="user", client_ids=[]).status_code == 403


def test_nobody_gives_more_than_they_have_or_changes_their_own(
    site: Site, portal: httpx.Client
) -> None:
    above, them = Asker(site, portal, UserRole.ADMIN), Asker(site, portal, UserRole.USER)
    theirs = f"c-{uuid4().hex[:8]}"
    site.issue(Identity(OTHER, Role.CLIENT, theirs))
    path, own = f"/{them.user.user_id.hex()}/rights", f"/{above.user.user_id.hex()}/rights"
    refused = [
        above.post(path, role="super-admin", client_ids=[]),
        above.post(path, role="root", client_ids=[]),
        above.post(path, role="user", client_ids=["nobody-such"]),
        above.post(path, role="user", client_ids=[f"{OTHER}:{theirs}"]),
        above.post(own, role="user", client_ids=[]),
        above.post(own, role="admin", client_ids=["client_001"]),
        them.post(own, role="user", client_ids=[]),
    ]
    assert [one.status_code for one in refused] == [422, 422, 404, 404, 422, 422, 403]
    row = them.people.row()
    assert row.role is UserRole.USER
    assert them.session().json()["client_ids"] == []
    assert above.get().status_code == 200


@pytest.mark.parametrize("act", ["disable", "enable", "sign-out", "link", "reset-second-step"])
def test_somebody_of_another_domain_is_answered_as_nobody(
    site: Site, portal: httpx.Client, act: str
) -> None:
    here = Asker(site, portal, UserRole.ADMIN)
    there = Asker(site, portal, UserRole.ADMIN, OTHER)
    ours = People(site.engine, domain="gatepost")
    foreign = [there.user.user_id.hex(), ours.create(role=UserRole.SUPER_ADMIN).user_id.hex()]
    unknown = shown(here.post(f"/{uuid4().hex}/{act}"))
    assert unknown[0] == 404
    assert [shown(here.post(f"/{one}/{act}")) for one in foreign] == [unknown] * 2
    rights = {"role": "user", "client_ids": ["client_001"]}
    for one in foreign:
        assert shown(here.get(f"/{one}")) == unknown
        assert shown(here.post(f"/{one}/rights", **rights)) == unknown
    assert there.get().status_code == 200, "nothing was done"


def test_lists_and_names_tell_nothing_of_another_domain(site: Site, portal: httpx.Client) -> None:
    here = Asker(site, portal, UserRole.ADMIN)
    there = Asker(site, portal, UserRole.ADMIN, OTHER)
    for query in ({}, {"domain": "example.com"}):
        assert {one["domain"] for one in here.get(**query).json()["accounts"]} == {"example.com"}
    unknown = here.get(domain="nowhere.example")
    assert shown(here.get(domain=OTHER)) == shown(unknown)
    assert unknown.json() == {"accounts": [], "next": None}
    taken = here.post(name=f"{there.people.name}@{OTHER}")
    assert taken.status_code == here.post(name="x@nowhere.example").status_code == 404
    assert here.post(name=there.people.name).status_code == 201, "a name is a domain's own"
    for role in ("super-admin",):
        assert here.post(name=f"x-{uuid4().hex[:8]}", role=role).status_code == 422


def test_a_super_administrator_sees_all_and_the_audit_log_has_it(
    site: Site, portal: httpx.Client
) -> None:
    there = Asker(site, portal, UserRole.USER, OTHER)
    above = Asker(site, portal, UserRole.SUPER_ADMIN, "gatepost")
    for one in (there, above):
        [found] = above.get(name=one.people.name).json()["accounts"]
        assert found["domain"] == one.people.domain
    assert {one["domain"] for one in above.get(domain=OTHER).json()["accounts"]} == {OTHER}
    assert above.post(f"/{there.user.user_id.hex()}/disable").status_code == 204
    assert there.get().status_code == 401
    query = text("SELECT subject FROM audit_log WHERE actor = :a AND action = 'users.listed'")
    about = {"a": f"gatepost://gatepost/user/{above.people.name}"}
    seen = transact(site.engine, lambda c: c.execute(query, about).scalars().all())
    assert seen == ["every domain", "every domain", OTHER]


def test_nobody_makes_a_link_for_themselves(site: Site, portal: httpx.Client) -> None:
    """A stolen session would be the account for good."""
    for role, domain in ((UserRole.ADMIN, "example.com"), (UserRole.SUPER_ADMIN, "gatepost")):
        asker = Asker(site, portal, role, domain)
        own = UUID(bytes=asker.user.user_id)
        assert asker.post(f"/{own}/link").status_code == 422
        assert "user.link_made" not in asker.people.audited()[-1:]
        other = Asker(site, portal, role, domain)
        other_id = UUID(bytes=other.user.user_id)
        assert asker.post(f"/{other_id}/link").status_code == 201


@pytest.mark.parametrize("odd", ["é", "٣", "x" * 300, "a b", "\U0001f600"])
def test_what_nobody_can_be_called_is_refused(site: Site, portal: httpx.Client, odd: str) -> None:
    """Before the ledger is asked, whose names are ASCII: it was a fault of ours."""
    admin = Asker(site, portal, UserRole.ADMIN)
    root = Asker(site, portal, UserRole.SUPER_ADMIN, "gatepost")
    name = f"n-{uuid4().hex[:8]}"
    for asker in (admin, root):
        assert asker.get(domain=odd).status_code == 422
        assert asker.post(name=odd, role="user", client_ids=[]).status_code == 422
        for given in ({"name": f"{name}@{odd}"}, {"name": f"{name}@example.com", "client": odd}):
            clients = [given["client"]] if "client" in given else []
            answer = asker.post(name=given["name"], role="user", client_ids=clients)
            assert answer.status_code in (404, 422)
            assert odd not in answer.json()["detail"]


def test_a_list_says_of_each_what_their_own_page_says(site: Site, portal: httpx.Client) -> None:
    """It is read at once for all of them, by other queries."""
    admin = Asker(site, portal, UserRole.ADMIN)
    clients = frozenset({"example.com:client_001"})
    one = People(site.engine).with_password(client_ids=clients)
    answers = [admin.get(name=user.name) for user in (one, admin.user)]
    listed = [account for answer in answers for account in answer.json()["accounts"]]
    found = {account["user_id"]: account for account in listed}
    for user in (one, admin.user):
        user_id = str(UUID(bytes=user.user_id))
        assert admin.get(f"/{user_id}").json() == found[user_id]
    assert found[str(UUID(bytes=one.user_id))]["client_ids"] == sorted(clients)
