"""That it is still them, on a real ledger: nobody makes themselves a way in with a stolen session,
nor takes anything for good."""

from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi.routing import APIRoute
from sqlalchemy import text

from gatepost.errors import NotSignedIn
from gatepost.service.access_tokens import Claims, mint
from gatepost.wire.people import UserRole
from main_server.keys.service import Keyring
from main_server.people.sessions.backoff import Kind
from main_server.people.sessions.proof import FRESH, prove_by_password
from main_server.people.users import passwords
from main_server.people.users import repository as people_rows
from main_server.people.users import service as users
from main_server.people.users.passwords import Costs
from main_server.store.database import transact
from tests.acceptance.test_roles import routes_of
from tests.integration.main_server.new_people import HASH, PASSWORD, TESTER, People
from tests.integration.main_server.office import Office
from tests.integration.main_server.people.second_step.test_second_step import said, set_up

MINUTE = 60_000
FRESH_MS = int(FRESH / timedelta(milliseconds=1))
OPEN = {
    # signing in and out, and what wants a password or a code by itself
    "POST /session",
    "POST /session/refresh",
    "POST /session/proof",
    "POST /session/second-step",
    "DELETE /session",
    "DELETE /sessions",
    "POST /password",
    "POST /password/reset",
    "POST /second-step/confirm",
    "POST /second-step/recovery-codes",
    "POST /second-step/off",
    # one's own, and looking
    "POST /time-zone",
    "POST /messages/sender",
    "POST /messages/{message_id}/open",
    "POST /audit/check",
    # what waits is delivered to where it was to go
    "POST /failed/redrive",
    "POST /failed/redrives",
    "POST /failed/redrives/{redrive_id}/stop",
    # in an emergency at once, and given back by who shows that it is them
    "POST /certificates/hold",
    "POST /retention/clients/{client_id}/holds",
    "POST /retention/domains/{domain}/holds",
    "DELETE /tokens/{token}",
    "POST /clients",
}
"""That can be done without: of what is neither here nor refused nobody has thought."""
BY_BODY = {"PATCH /clients/{client_id}": {"disabled": False}}
"""Where it depends on what is asked."""


async def stale(office: Office, people: People) -> str:
    """The session of an administrator who has signed in a while ago."""
    token = await office.token(people)
    office.clock.go_on(FRESH_MS)
    return token


@pytest.fixture
async def admin(people: People) -> People:
    """With no second step wanted, so that the password is."""
    now = people.now + timedelta(days=1)
    people.with_password(role=UserRole.ADMIN, break_glass_until=now.replace(tzinfo=None))
    return people


async def give(office: Office, token: str, **proof: str) -> httpx.Response:
    return await office.ask(token, "POST", "/session/proof", address=office.address, **proof)


async def link_for(office: Office, token: str, other: People) -> httpx.Response:
    user_id = other.row().user_id.hex()
    return await office.ask(token, "POST", f"/users/{user_id}/link")


@pytest.fixture
def other(people: People) -> People:
    found = People(people.engine)
    found.create()
    return found


@pytest.mark.parametrize("role", [UserRole.ADMIN, UserRole.SUPER_ADMIN])
async def test_a_session_alone_gives_and_takes_nothing_for_good(
    office: Office, people: People, role: UserRole
) -> None:
    """Whatever is added later, too: the routes are the application's own."""
    if role is UserRole.SUPER_ADMIN:
        people = People(people.engine, domain="gatepost")
    until = (people.now + timedelta(days=1)).replace(tzinfo=None)
    people.with_password(role=role, break_glass_until=until)
    token = await stale(office, people)
    routes = {
        f"{method} {path.removeprefix('/api/portal')}"
        for path, route in routes_of(office.app.api)
        if isinstance(route, APIRoute) and path.startswith("/api/portal/")
        for method in (route.methods or set()) - {"GET"}
    }
    assert routes >= OPEN | BY_BODY.keys(), (OPEN | BY_BODY.keys()) - routes
    assert len(routes - OPEN) > 10
    for one in sorted(routes - OPEN):
        method, _, path = one.partition(" ")
        if path.startswith("/domains") and role is UserRole.ADMIN:
            continue  # theirs to look at alone
        for part in ("user_id", "serial", "client_id", "domain"):
            path = path.replace(f"{{{part}}}", str(uuid4()))
        path = path.replace("{act}", "disable")
        answer = await office.ask(token, method, path, **BY_BODY.get(one, {}))
        assert said(answer) == "403 password-wanted", one


async def test_for_a_while_after_signing_in_it_is_them(
    office: Office, admin: People, other: People
) -> None:
    token = await office.token(admin)
    office.clock.go_on(FRESH_MS - 1)
    assert (await link_for(office, token, other)).status_code == 201
    office.clock.go_on(1)
    assert said(await link_for(office, token, other)) == "403 password-wanted"


@pytest.mark.parametrize("act", ["disable", "enable", "reset-second-step"])
async def test_each_act_on_an_account_wants_it_but_signing_out(
    office: Office, admin: People, other: People, act: str
) -> None:
    token, user_id = await stale(office, admin), other.row().user_id.hex()
    answer = await office.ask(token, "POST", f"/users/{user_id}/{act}")
    assert said(answer) == "403 password-wanted"
    signed_out = await office.ask(token, "POST", f"/users/{user_id}/sign-out")
    assert signed_out.status_code == 204


async def test_with_the_password_it_goes_on_in_this_session_and_for_a_while(
    office: Office, admin: People, other: People
) -> None:
    token, elsewhere = await office.token(admin), await office.token(admin)
    office.clock.go_on(FRESH_MS)
    assert (await give(office, token, password=PASSWORD)).status_code == 204
    assert (await link_for(office, token, other)).status_code == 201
    assert said(await link_for(office, elsewhere, other)) == "403 password-wanted"
    assert admin.audited()[-1] == "session.proved"
    office.clock.go_on(FRESH_MS)
    assert said(await link_for(office, token, other)) == "403 password-wanted"


async def test_who_guesses_in_a_session_waits_and_is_in_the_audit_log(
    office: Office, admin: People, other: People
) -> None:
    token = await stale(office, admin)
    for _ in range(Kind.HERE.value):
        assert said(await give(office, token, password="wrong")) == "422 invalid"
    assert said(await give(office, token, password=PASSWORD)) == "429 too-many-tries"
    assert said(await link_for(office, token, other)) == "403 password-wanted"
    assert admin.audited().count("session.password_refused") == Kind.HERE.value
    assert "session.slowed_down" in admin.audited()
    assert (await office.token(admin)) != token, "the holder elsewhere is held up by nobody"


async def test_so_are_guesses_where_the_password_is_changed(office: Office, admin: People) -> None:
    token = await office.token(admin)
    wanted = {"current": "wrong", "new": "another walk in the rain"}
    for _ in range(Kind.HERE.value):
        assert said(await office.ask(token, "POST", "/password", **wanted)) == "422 invalid"
    wanted["current"] = PASSWORD
    refused = await office.ask(token, "POST", "/password", **wanted)
    assert said(refused) == "429 too-many-tries"


async def test_who_has_an_authenticator_gives_a_code_and_no_password(
    office: Office, people: People, other: People
) -> None:
    people.with_password(role=UserRole.ADMIN)
    token = await office.token(people)
    phone, recovery = await set_up(office, token)
    office.clock.go_on(FRESH_MS)
    assert said(await link_for(office, token, other)) == "403 code-wanted"
    assert said(await give(office, token, password=PASSWORD)) == "422 wrong-code"
    assert said(await give(office, token, code=phone.code())) == "422 wrong-code", "too old"
    assert said(await link_for(office, token, other)) == "403 code-wanted"
    assert (await give(office, token, code=recovery[0])).status_code == 204
    assert (await link_for(office, token, other)).status_code == 201
    assert said(await give(office, token, code=recovery[0])) == "422 wrong-code"


async def test_nobody_sets_up_an_authenticator_for_a_session_that_they_stole(
    office: Office, people: People
) -> None:
    people.with_password()
    token = await stale(office, people)
    assert said(await office.ask(token, "POST", "/second-step")) == "403 password-wanted"
    assert (await give(office, token, password=PASSWORD)).status_code == 204
    assert (await office.ask(token, "POST", "/second-step")).status_code == 200


async def test_a_session_alone_learns_no_secret_that_is_being_set_up(
    office: Office, people: People
) -> None:
    """With it a thief could give codes for as long as its holder uses that authenticator."""
    people.with_password()
    token, own = await stale(office, people), await office.token(people)
    shown = (await office.ask(own, "POST", "/second-step")).json()
    assert (await office.ask(own, "GET", "/second-step")).json() == shown
    assert shown["key"]
    stolen = (await office.ask(token, "GET", "/second-step")).json()
    assert (stolen["key"], stolen["uri"]) == (None, None)
    office.clock.go_on(FRESH_MS)
    assert (await office.ask(own, "GET", "/second-step")).json()["key"] is None, "it begins anew"


async def test_who_must_set_one_up_can_show_that_it_is_them(office: Office, people: People) -> None:
    """A while after the password: until then they may do nothing else."""
    people.with_password(role=UserRole.ADMIN)
    token = await stale(office, people)
    assert said(await office.ask(token, "POST", "/second-step")) == "403 password-wanted"
    assert (await give(office, token, password=PASSWORD)).status_code == 204
    assert (await office.ask(token, "POST", "/second-step")).status_code == 200


async def test_a_session_that_has_ended_meanwhile_is_not_proved(
    office: Office, admin: People
) -> None:
    token = await stale(office, admin)
    users.sign_out(admin.engine, admin.row(), admin.now, TESTER)
    assert said(await give(office, token, password=PASSWORD)) == "401 not-signed-in"


async def test_no_link_for_oneself_even_so(office: Office, admin: People) -> None:
    token = await office.token(admin)
    assert said(await link_for(office, token, admin)) == "422 invalid"


async def test_the_audit_log_tells_sessions_apart_and_names_none(
    office: Office, admin: People
) -> None:
    """With its id and a key that has leaked, somebody could make tokens of one."""
    await office.token(admin)
    await office.token(admin)
    about = {"user_id": admin.row().user_id, "s": f"gatepost://{admin.domain}/user/{admin.name}"}
    ids = text("SELECT LOWER(HEX(session_id)) FROM sessions WHERE user_id = :user_id")
    logged = text("SELECT details FROM audit_log WHERE subject = :s AND action = 'session.opened'")
    found = list(transact(admin.engine, lambda c: c.execute(ids, about).scalars()))
    details = list(transact(admin.engine, lambda c: c.execute(logged, about).scalars()))
    assert len(set(details)) == 2
    for session_id in found:
        assert session_id not in "".join(details).replace("-", "")


async def test_a_token_of_one_person_and_anothers_session_is_nobodys(
    office: Office, people: People, other: People, ring: Keyring
) -> None:
    """Whatever a key has signed: who asks is whose session it is."""
    user, someone = people.with_password(), other.row()
    opened = people.sign_in()

    def token_of(user_id: bytes) -> str:
        who = UUID(bytes=user_id), opened.session_id, people.name, people.domain, user.role
        return mint(ring.token_signer(), Claims(*who), [], office.now)

    assert (await office.ask(token_of(user.user_id), "GET", "/session")).status_code == 200
    stranger = await office.ask(token_of(someone.user_id), "GET", "/session")
    assert said(stranger) == "401 not-signed-in"


async def test_to_sign_in_again_in_a_browser_ends_its_session_before(
    office: Office, admin: People
) -> None:
    before = (await office.sign_in(admin)).json()
    wanted = {"domain": admin.domain, "name": admin.name, "address": admin.address}
    wanted |= {"before": before["refresh_token"]}

    async def signed_in(password: str) -> httpx.Response:
        return await office.http.post("/api/portal/session", json=wanted | {"password": password})

    assert said(await signed_in("wrong")) == "401 wrong-credentials"
    token = before["access_token"]
    assert (await office.ask(token, "GET", "/session")).status_code == 200, "nothing by a guess"
    assert (await signed_in(PASSWORD)).status_code == 200
    assert said(await office.ask(token, "GET", "/session")) == "401 not-signed-in"


async def test_a_hash_of_a_former_cost_is_made_anew_when_somebody_signs_in(
    office: Office, admin: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheap = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(passwords, "_COSTS", Costs(passwords._HASHER, cheap))
    change = {"password_hash": cheap.hash(PASSWORD)}
    user_id = admin.row().user_id
    transact(admin.engine, lambda c: people_rows.change(c, user_id, **change))
    mine = await office.token(admin)
    anew = admin.row().password_hash
    assert anew not in (None, change["password_hash"])
    assert not passwords.is_of_former_cost(str(anew))
    assert (await office.ask(mine, "GET", "/session")).status_code == 200, "no session ends by it"
    await office.token(admin)
    assert admin.row().password_hash == anew


async def test_what_ends_a_session_meanwhile_wins(people: People) -> None:
    """The password was right when it was looked at, and is another one by now."""
    people.with_password()
    opened = people.sign_in()
    session, looked_at = people.session(opened)
    tried = people.try_()
    users.set_password(people.engine, looked_at, HASH + "x", people.now, TESTER)
    with pytest.raises(NotSignedIn):
        prove_by_password(people.engine, tried, session, looked_at, people.now)
    assert people.session(opened)[0].proved_at == session.proved_at
