"""Signing in as the portal does it, on a running stack: by its certificate, for people."""

import base64
import json
import time
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from main_server.people.sessions.backoff import Kind, shown
from main_server.people.users import links, service
from tests.acceptance.site import Site, eventually
from tests.integration.main_server.new_people import DOMAIN, PASSWORD, People

NEW = "another walk in the rain"


@pytest.fixture
def people(site: Site) -> People:
    return People(site.engine)


def sign_in(portal: httpx.Client, people: People, **given: str) -> httpx.Response:
    said = {"domain": DOMAIN, "name": people.name, "password": PASSWORD, "address": people.address}
    return portal.post("/api/portal/session", json=said | given)


def bearer(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 200, answer.text
    return {"authorization": f"Bearer {answer.json()['access_token']}"}


def refresh(portal: httpx.Client, answer: httpx.Response) -> httpx.Response:
    token = answer.json()["refresh_token"]
    return portal.post("/api/portal/session/refresh", json={"refresh_token": token})


def problem(answer: httpx.Response) -> str:
    said: dict[str, Any] = answer.json()
    return f"{answer.status_code} {said['type'].rpartition(':')[2]}"


def test_who_signs_in_is_known_by_the_token_until_they_sign_out(
    portal: httpx.Client, people: People
) -> None:
    people.with_password(client_ids=frozenset({"example.com:client_001"}))
    answer = sign_in(portal, people, name=f" {people.name.upper()} ")
    mine = bearer(answer)
    said = portal.get("/api/portal/session", headers=mine).json()
    assert (said["name"], said["domain"], said["role"]) == (people.name, DOMAIN, "user")
    assert said["client_ids"] == ["example.com:client_001"]
    assert said["last_login_at"] is None
    again = bearer(sign_in(portal, people))
    assert portal.get("/api/portal/session", headers=again).json()["last_login_at"]
    assert portal.delete("/api/portal/session", headers=mine).status_code == 204
    gone = portal.get("/api/portal/session", headers=mine)
    assert problem(gone) == "401 not-signed-in"
    assert gone.headers["www-authenticate"] == "Bearer"
    assert problem(refresh(portal, answer)) == "401 not-signed-in"
    assert portal.get("/api/portal/session", headers=again).status_code == 200


def test_to_sign_out_everywhere_ends_every_session_at_once(
    portal: httpx.Client, people: People
) -> None:
    people.with_password()
    answers = [sign_in(portal, people) for _ in range(3)]
    done = portal.delete("/api/portal/sessions", headers=bearer(answers[0]))
    assert done.status_code == 204
    for answer in answers:
        assert problem(portal.get("/api/portal/session", headers=bearer(answer)))[:3] == "401"
        assert problem(refresh(portal, answer)) == "401 not-signed-in"


def test_a_name_that_nobody_has_looks_like_a_wrong_password(
    portal: httpx.Client, people: People
) -> None:
    people.with_password()
    other = People(people.engine)
    other.with_password()
    service.disable(other.engine, other.row(), other.now, "tester")
    wrong = [
        sign_in(portal, people, password="wrong"),
        sign_in(portal, people, name="nobody-at-all"),
        sign_in(portal, people, domain="nowhere.example"),
        sign_in(portal, people, name="é' OR 1=1", domain="ö"),
        sign_in(portal, people, name=""),
        sign_in(portal, other),  # who is disabled, with the right password
    ]
    said = [answer.json() | {"request_id": ""} for answer in wrong]
    assert [problem(answer) for answer in wrong] == ["401 wrong-credentials"] * len(wrong)
    assert all(one == said[0] for one in said)


def test_and_takes_as_long(portal: httpx.Client, people: People) -> None:
    people.with_password()

    def took(name: str) -> float:
        began = time.perf_counter()
        answer = sign_in(portal, people, name=name, password="wrong", address=uuid4().hex)
        assert problem(answer) == "401 wrong-credentials"
        return time.perf_counter() - began

    known = min(took(people.name) for _ in range(4))
    unknown = min(took(f"nobody-{uuid4().hex[:8]}") for _ in range(4))
    assert 0.2 < unknown / known < 5, "without hashing it would be a hundredth"


def test_who_guesses_is_asked_to_wait(portal: httpx.Client, people: People) -> None:
    people.with_password()
    answers = [sign_in(portal, people, password="wrong") for _ in range(6)]
    assert problem(answers[-1]) == "429 too-many-tries"
    assert int(answers[-1].headers["retry-after"]) >= 1
    eventually(lambda: sign_in(portal, people).status_code == 200, "the right one is taken", 10)


def test_a_browser_that_is_known_is_held_up_by_nobody(
    site: Site, portal: httpx.Client, people: People
) -> None:
    """Known since somebody has signed in with it, or has used a link."""
    user = people.with_password()
    known = sign_in(portal, people).json()["browser"]
    answers = [sign_in(portal, people, password="wrong") for _ in range(6)]
    assert problem(answers[-1]) == "429 too-many-tries"
    assert sign_in(portal, people, browser=known).status_code == 200
    link = {"token": links.make_link(people.engine, user, people.now, "tester"), "new": NEW}
    other = portal.post("/api/portal/password/reset", json=link).json()["browser"]
    assert sign_in(portal, people, browser=other, password=NEW).status_code == 200
    for forged in ("x", known + "x", "é"):
        answers = [sign_in(portal, people, browser=forged, password="wrong") for _ in range(6)]
        assert problem(answers[-1]) == "429 too-many-tries"
    stranger = People(site.engine)
    guesses = [sign_in(portal, stranger, browser=known) for _ in range(6)]
    assert problem(guesses[-1]) == "429 too-many-tries", "it is known to its own account alone"


def test_the_log_tells_whom_and_from_where_without_naming_them(
    site: Site, portal: httpx.Client, people: People
) -> None:
    other = uuid4().hex
    for name, address in ((people.name, people.address), (people.name, other)):
        sign_in(portal, people, name=name, address=address)
    about = shown(DOMAIN, people.name, people.address)

    def tried() -> list[str]:
        events = site.events("main_server", "session.tried")
        return [one["network"] for one in events if one.get("account") == about["account"]]

    eventually(lambda: len(tried()) == 2, "both are in the log")
    assert tried()[0] == about["network"] != tried()[1]


def test_a_portal_that_is_confined_to_a_domain_has_its_people_alone(
    site: Site, portal: httpx.Client, people: People
) -> None:
    """Its certificate is of that domain: everybody else is nobody there (I12)."""
    pair = site.issue(Identity("confined.example", Role.PORTAL, f"portal-{uuid4().hex[:8]}"))
    own = People(site.engine, domain="confined.example")
    theirs = People(site.engine, domain="gatepost")
    own.with_password()
    theirs.with_password(role=UserRole.SUPER_ADMIN)
    user = people.with_password()
    with site.calling(pair.files, "main_server") as confined:
        eventually(lambda: confined.get("/api/portal/keys").status_code == 200, "it is known")
        mine = sign_in(confined, own, domain=own.domain)
        assert confined.get("/api/portal/session", headers=bearer(mine)).status_code == 200
        assert refresh(confined, mine).status_code == 200
        for other in (people, theirs):
            wrong = sign_in(confined, other, domain=other.domain)
            assert problem(wrong) == "401 wrong-credentials"
            elsewhere = sign_in(portal, other, domain=other.domain)
            asked = confined.get("/api/portal/session", headers=bearer(elsewhere))
            assert problem(asked) == "401 not-signed-in"
            assert problem(refresh(confined, elsewhere)) == "401 not-signed-in"
            assert refresh(portal, elsewhere).status_code == 200, "nothing has become of it"
        token = links.make_link(people.engine, user, people.now, "tester")
        link = {"token": token, "new": NEW}
        assert problem(confined.post("/api/portal/password/reset", json=link))[:3] == "403"
        assert portal.post("/api/portal/password/reset", json=link).status_code == 200


def test_a_new_password_ends_all_sessions(portal: httpx.Client, people: People) -> None:
    people.with_password()
    mine = bearer(sign_in(portal, people))

    def change(current: str, new: str) -> httpx.Response:
        wanted = {"current": current, "new": new}
        return portal.post("/api/portal/password", json=wanted, headers=mine)

    assert problem(change("wrong", NEW)) == "422 invalid"
    assert problem(change(PASSWORD, "short")) == "422 invalid"
    assert change(PASSWORD, NEW).status_code == 204
    assert portal.get("/api/portal/session", headers=mine).status_code == 401
    assert sign_in(portal, people).status_code == 401
    assert sign_in(portal, people, password=NEW).status_code == 200


def test_a_new_password_that_is_not_taken_is_no_guess_at_the_present_one(
    portal: httpx.Client, people: People
) -> None:
    people.with_password()
    mine = bearer(sign_in(portal, people))

    def change(current: str) -> str:
        wanted = {"current": current, "new": "short"}
        return problem(portal.post("/api/portal/password", json=wanted, headers=mine))

    most = Kind.HERE.value
    assert [change(PASSWORD) for _ in range(most + 1)] == ["422 invalid"] * (most + 1)
    assert [change("wrong") for _ in range(most + 1)] == [
        *["422 invalid"] * most,
        "429 too-many-tries",
    ]


def test_a_link_sets_a_password_once(portal: httpx.Client, people: People) -> None:
    user = people.with_password()
    mine = bearer(sign_in(portal, people))
    link = links.make_link(people.engine, user, people.now, "tester")

    def reset(token: str, new: str = NEW) -> httpx.Response:
        return portal.post("/api/portal/password/reset", json={"token": token, "new": new})

    assert problem(reset("guessed")) == "403 token-refused"
    assert problem(reset(link, people.name * 2)) == "422 invalid"
    assert reset(link).status_code == 200
    assert problem(reset(link)) == "403 token-refused"
    assert portal.get("/api/portal/session", headers=mine).status_code == 401
    assert sign_in(portal, people, password=NEW).status_code == 200


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer a.b.c"])
def test_without_a_token_nobody_is_known(portal: httpx.Client, given: str) -> None:
    answer = portal.get("/api/portal/session", headers={"authorization": given})
    assert problem(answer) == "401 not-signed-in"


def test_a_token_that_was_forged_is_refused(portal: httpx.Client, people: People) -> None:
    """All that an attacker can make of a good one, and of the public key."""
    people.with_password()
    good = bearer(sign_in(portal, people))["authorization"].removeprefix("Bearer ")
    header, said, signature = good.split(".")
    claims, read = jwt.decode(good, options={"verify_signature": False}), portal.get
    kid = jwt.get_unverified_header(good)["kid"]
    key = next(one["key"] for one in read("/api/portal/keys").json()["keys"] if one["kid"] == kid)
    more = claims | {"role": "super-admin", "domain": "gatepost"}
    other = Ed25519PrivateKey.generate()
    forged = [
        *(f"{segment({'alg': none, 'kid': kid})}.{said}." for none in ("none", "None", "NONE", "")),
        f"{header}.{segment(more)}.{signature}",
        f"{header}.{said}.",
        jwt.encode(more, bytes.fromhex(key), "HS256", headers={"kid": kid}),
        jwt.encode(more, key, "HS512", headers={"kid": kid}),
        jwt.encode(more, other, "EdDSA", headers={"kid": kid}),
        jwt.encode(more, other, "EdDSA", headers={"kid": "../../dev/null"}),
        jwt.encode(more, other, "EdDSA", headers={"kid": f"{kid}' OR '1'='1"}),
    ]
    for token in forged:
        answer = read("/api/portal/session", headers={"authorization": f"Bearer {token}"})
        assert problem(answer) == "401 not-signed-in"
    mine = {"authorization": f"Bearer {good}"}
    assert read("/api/portal/session", headers=mine).status_code == 200
    portal.delete("/api/portal/session", headers=mine)
    assert problem(read("/api/portal/session", headers=mine)) == "401 not-signed-in", "a replay"


def segment(said: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()


def test_no_password_and_no_token_is_in_the_log(
    site: Site, portal: httpx.Client, people: People
) -> None:
    people.with_password()
    answer = sign_in(portal, people)
    sign_in(portal, people, password="canary-4711-canary")
    said = answer.json()
    eventually(lambda: site.events("main_server", "session.opened"), "it is in the log")
    log = site.stack.place.log("main_server").read_text()
    secrets = [PASSWORD, "canary-4711", said["access_token"], said["refresh_token"]]
    assert [one for one in secrets if one in log] == []


def test_a_time_zone_is_kept_and_told_by_the_next_token(
    portal: httpx.Client, people: People
) -> None:
    people.with_password()
    mine = bearer(sign_in(portal, people))
    assert portal.get("/api/portal/session", headers=mine).json()["time_zone"] is None

    def choose(zone: str) -> httpx.Response:
        return portal.post("/api/portal/time-zone", json={"time_zone": zone}, headers=mine)

    said = choose("Europe/Berlin")
    fresh = bearer(said)
    assert said.json()["refresh_token"] is None
    for token in (fresh, mine, bearer(sign_in(portal, people))):
        answer = portal.get("/api/portal/session", headers=token)
        assert answer.json()["time_zone"] == "Europe/Berlin"
    claims = jwt.decode(said.json()["access_token"], options={"verify_signature": False})
    assert claims["zoneinfo"] == "Europe/Berlin"
    assert [problem(choose(zone)) for zone in ("Mars/Phobos", "", "../x")] == ["422 invalid"] * 3
