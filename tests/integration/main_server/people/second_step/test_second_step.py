"""The second step on a real ledger: nothing without it for who administers, and each code once."""

from base64 import b32decode, b32encode
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from fastapi.routing import APIRoute
from sqlalchemy import text

from gatepost.wire.people import UserRole
from main_server.keys import service_keys
from main_server.keys.master import MasterKeys
from main_server.keys.service import Keyring
from main_server.people.second_step import codes
from main_server.people.second_step.guesses import EASED, FREE
from main_server.people.sessions.backoff import Kind
from main_server.people.users import service as users
from main_server.store.database import transact
from tests.acceptance.test_roles import routes_of
from tests.integration.main_server.conftest import MASTER
from tests.integration.main_server.new_people import HASH, TESTER, People
from tests.integration.main_server.office import Office


class Phone:
    """An authenticator: its codes of now, and of the half minutes around."""

    def __init__(self, key: str, now: datetime) -> None:
        self.secret, self._now = b32decode(key.replace("-", "")), now

    def code(self, later: int = 0) -> str:
        return codes.code_at(self.secret, codes.step_at(self._now) + later)

    def wrong(self) -> str:
        right = {self.code(later) for later in range(-2, 3)}
        return next(code for code in ("000000", "111111", "222222", "333333") if code not in right)


async def begin(office: Office, token: str) -> Phone:
    return Phone((await office.ask(token, "POST", "/second-step")).json()["key"], office.now)


async def set_up(office: Office, token: str) -> tuple[Phone, list[str]]:
    """An authenticator whose code of the half minute before was used, and the recovery codes."""
    phone = await begin(office, token)
    answer = await office.give(token, phone.code(-1), "/second-step/confirm")
    assert answer.status_code == 200, answer.text
    return phone, answer.json()["codes"]


def said(answer: httpx.Response) -> str:
    return f"{answer.status_code} {answer.json().get('type', '').rpartition(':')[2]}"


async def sees_messages(office: Office, token: str) -> str:
    """What comes of a question that anybody who has signed in may ask."""
    answer = await office.ask(token, "GET", "/session")
    return "seen" if answer.status_code == 200 else said(answer)


async def test_who_administers_does_nothing_before_an_authenticator_is_set_up(
    office: Office, people: People
) -> None:
    people.with_password(role=UserRole.ADMIN)
    token = await office.token(people)
    assert await sees_messages(office, token) == "403 second-step-missing"
    state = (await office.ask(token, "GET", "/second-step")).json()
    assert (state["on"], state["demanded"], state["key"]) == (False, True, None)
    phone, recovery = await set_up(office, token)
    assert await sees_messages(office, token) == "seen"
    assert len(recovery) == 10
    state = (await office.ask(token, "GET", "/second-step")).json()
    assert (state["on"], state["recovery_codes_left"]) == (True, 10)
    assert (state["key"], state["uri"]) == (None, None), "nobody sees it again"
    next_time = await office.token(people)
    assert await sees_messages(office, next_time) == "403 second-step-wanted"
    assert (await office.give(next_time, phone.code())).status_code == 200


async def test_of_a_user_it_is_not_demanded(office: Office, people: People) -> None:
    people.with_password()
    token = await office.token(people)
    assert await sees_messages(office, token) == "seen"
    await set_up(office, token)
    assert await sees_messages(office, token) == "seen"
    assert await sees_messages(office, await office.token(people)) == "403 second-step-wanted"


ALWAYS = {("DELETE", "/api/portal/session")}
SETTING_UP = {
    ("GET", "/api/portal/second-step"),
    ("POST", "/api/portal/second-step"),
    ("POST", "/api/portal/second-step/confirm"),
    ("POST", "/api/portal/session/proof"),
}
GIVING = {("POST", "/api/portal/session/second-step")}
WITHOUT = {
    ("GET", "/api/portal/keys"),
    ("POST", "/api/portal/session"),
    ("POST", "/api/portal/session/refresh"),
    ("POST", "/api/portal/password/reset"),
}


@pytest.mark.parametrize("stage", ["second-step-missing", "second-step-wanted"])
async def test_every_other_route_is_refused_until_then(
    office: Office, people: People, stage: str
) -> None:
    """Whatever is added later, too: the routes are the application's own."""
    people.with_password(role=UserRole.ADMIN)
    token = await office.token(people)
    if stage == "second-step-wanted":
        await set_up(office, token)
        token = await office.token(people)
    routes = {
        (method, path)
        for path, route in routes_of(office.app.api)
        if isinstance(route, APIRoute) and path.startswith("/api/portal/")
        for method in route.methods or ()
    }
    assert routes >= ALWAYS | SETTING_UP | GIVING | WITHOUT
    assert len(routes) > 20
    open_to = ALWAYS | WITHOUT | (SETTING_UP if stage == "second-step-missing" else GIVING)
    for method, path in sorted(routes - open_to):
        concrete = path.removeprefix("/api/portal")
        for part in ("user_id", "message_id", "redrive_id"):
            concrete = concrete.replace(f"{{{part}}}", str(uuid4()))
        answer = await office.ask(token, method, concrete)
        assert said(answer) == f"403 {stage}", (method, path)


async def test_a_code_is_good_once(office: Office, people: People) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    assert said(await office.give(await office.token(people), phone.code(-1))) == "422 wrong-code"
    first, second = await office.token(people), await office.token(people)
    code = phone.code()
    assert (await office.give(first, code)).status_code == 200
    assert said(await office.give(second, code)) == "422 wrong-code"
    assert people.audited().count("second_step.refused") == 2


async def test_whatever_is_wrong_is_said_in_the_same_words(office: Office, people: People) -> None:
    people.with_password()
    phone, recovery = await set_up(office, await office.token(people))
    good = await office.give(await office.token(people), recovery[0])
    assert good.status_code == 200
    token = await office.token(people)
    wrong = [phone.wrong(), phone.code(-1), recovery[0], "é\udcff"[:1]]
    answers = [(await office.give(token, one)).json() | {"request_id": ""} for one in wrong]
    assert all(one == answers[0] for one in answers)
    assert answers[0]["status"] == 422


def session_in(token: str) -> str:
    return str(jwt.decode(token, options={"verify_signature": False})["sid"])


async def test_another_session_begins_with_the_code(office: Office, people: People) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    begun = (await office.sign_in(people)).json()
    half = begun["access_token"]
    whole = (await office.give(half, phone.code())).json()
    assert session_in(half) != session_in(whole["access_token"])
    assert await sees_messages(office, whole["access_token"]) == "seen"
    assert await sees_messages(office, half) == "401 not-signed-in"
    again = {"refresh_token": begun["refresh_token"]}
    refreshed = await office.http.post("/api/portal/session/refresh", json=again)
    assert said(refreshed) == "401 not-signed-in"
    assert said(await office.give(whole["access_token"], phone.code(1))) == "422 invalid"


async def test_until_then_nothing_says_that_somebody_has_signed_in(
    office: Office, people: People
) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    before = people.row().last_login_at
    office.clock.go_on(100)
    token = await office.token(people)
    assert people.row().last_login_at == before
    assert people.audited()[-1] == "session.begun"
    await office.give(token, phone.code())
    assert people.row().last_login_at != before
    assert people.audited()[-1] == "session.opened"


async def test_who_guesses_codes_waits_and_gets_no_new_tries_by_the_password(
    office: Office, people: People
) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    for _ in range(Kind.HERE.value):
        token = await office.token(people)
        assert said(await office.give(token, phone.wrong())) == "422 wrong-code"
    refused = await office.give(await office.token(people), phone.code())
    assert said(refused) == "429 too-many-tries"
    assert int(refused.headers["retry-after"]) >= 1


async def test_who_goes_on_guessing_waits_for_days_but_its_holder_has_recovery_codes(
    office: Office, people: People
) -> None:
    """However many networks the guesses come from."""
    people.with_password()
    phone, recovery = await set_up(office, await office.token(people))
    token = await office.token(people)
    for number in range(FREE):
        answer = await office.give(token, phone.wrong(), address=f"198.51.100.{number}")
        assert said(answer) == "422 wrong-code"
    held_up = await office.give(token, phone.code(), address="203.0.113.1")
    assert said(held_up) == "429 too-many-tries"
    assert int(held_up.headers["retry-after"]) == EASED.total_seconds()
    assert (await office.give(token, recovery[0], address="203.0.113.2")).status_code == 200
    office.clock.go_on(int(EASED.total_seconds() * 1000))
    now = Phone(b32encode(phone.secret).decode(), office.now)
    given = await office.give(await office.token(people), now.code(), address="203.0.113.3")
    assert given.status_code == 200


async def test_a_recovery_code_is_good_once_and_new_ones_end_the_old(
    office: Office, people: People
) -> None:
    people.with_password()
    phone, recovery = await set_up(office, await office.token(people))
    opened = await office.give(await office.token(people), recovery[0].lower())
    token = opened.json()["access_token"]
    assert (await office.ask(token, "GET", "/second-step")).json()["recovery_codes_left"] == 9
    assert said(await office.give(await office.token(people), recovery[0])) == "422 wrong-code"
    wrong = await office.give(token, phone.wrong(), "/second-step/recovery-codes")
    assert said(wrong) == "422 wrong-code"
    made = (await office.give(token, phone.code(), "/second-step/recovery-codes")).json()["codes"]
    assert not set(made) & set(recovery)
    assert said(await office.give(await office.token(people), recovery[1])) == "422 wrong-code"
    assert (await office.give(await office.token(people), made[1])).status_code == 200


async def test_who_does_without_again_gives_a_code_for_it(office: Office, people: People) -> None:
    people.with_password(role=UserRole.ADMIN)
    token = await office.token(people)
    phone, recovery = await set_up(office, token)
    assert said(await office.ask(token, "POST", "/second-step")) == "422 invalid"
    assert said(await office.give(token, phone.wrong(), "/second-step/off")) == "422 wrong-code"
    assert (await office.give(token, recovery[3], "/second-step/off")).status_code == 204
    assert await sees_messages(office, token) == "403 second-step-missing"
    await set_up(office, token)
    assert await sees_messages(office, token) == "seen"


async def test_other_sessions_are_asked_for_a_code_when_one_is_set_up(
    office: Office, people: People
) -> None:
    people.with_password()
    here, there = await office.token(people), await office.token(people)
    phone, _ = await set_up(office, here)
    assert await sees_messages(office, there) == "403 second-step-wanted"
    assert (await office.give(there, phone.code())).status_code == 200


async def test_who_becomes_an_administrator_sets_one_up_first(
    office: Office, people: People
) -> None:
    """What counts is the database at that moment, whatever the token says."""
    user = people.with_password()
    token = await office.token(people)
    statement = text("UPDATE users SET role = 'admin' WHERE user_id = :user_id")
    transact(people.engine, lambda c: c.execute(statement, {"user_id": user.user_id}))
    assert await sees_messages(office, token) == "403 second-step-missing"


async def test_who_has_lost_everything_is_reset_and_begins_anew(
    office: Office, people: People
) -> None:
    user = people.with_password(role=UserRole.ADMIN)
    token = await office.token(people)
    phone, recovery = await set_up(office, token)
    users.reset_second_step(people.engine, user, people.now, TESTER)
    assert await sees_messages(office, token) == "401 not-signed-in"
    fresh = await office.token(people)
    assert await sees_messages(office, fresh) == "403 second-step-missing"
    for old in (phone.code(), recovery[0]):
        assert said(await office.give(fresh, old, "/second-step/confirm")) == "422 wrong-code"
    assert "user.second_step_reset" in people.audited()


async def test_who_broke_the_glass_is_in_for_a_day_and_loudly(
    office: Office, people: People
) -> None:
    made = users.break_glass(people.engine, people.now, TESTER)
    broke = People(people.engine, name=made.name, domain="gatepost")
    users.set_password(people.engine, made, HASH, people.now, TESTER)
    assert await sees_messages(office, await office.token(broke)) == "seen"
    query = text("SELECT details FROM audit_log WHERE subject = :s AND action = 'session.opened'")
    about = {"s": f"gatepost://gatepost/user/{made.name}"}
    assert '"break_glass":true' in transact(people.engine, lambda c: c.scalar(query, about))
    over = office.now.replace(tzinfo=None) - timedelta(seconds=1)
    statement = text("UPDATE users SET break_glass_until = :over WHERE user_id = :user_id")
    given: dict[str, Any] = {"over": over, "user_id": made.user_id}
    transact(people.engine, lambda c: c.execute(statement, given))
    assert await sees_messages(office, await office.token(broke)) == "403 second-step-missing"


async def test_a_picture_that_was_not_confirmed_changes_nothing(
    office: Office, people: People
) -> None:
    people.with_password()
    token = await office.token(people)
    first = await begin(office, token)
    second = await begin(office, token)
    assert await sees_messages(office, await office.token(people)) == "seen"
    path = "/second-step/confirm"
    assert said(await office.give(token, first.code(), path)) == "422 wrong-code"
    assert (await office.give(token, second.code(), path)).status_code == 200


async def test_the_ledger_holds_no_secret_and_no_recovery_code(
    office: Office, people: People
) -> None:
    people.with_password()
    phone, recovery = await set_up(office, await office.token(people))
    with people.engine.connect() as connection:
        for table in ("totp_secrets", "recovery_codes", "audit_log", "sessions", "users"):
            rows = str(connection.exec_driver_sql(f"SELECT * FROM {table}").all())
            assert str(phone.secret)[2:-1] not in rows
            assert phone.secret.hex() not in rows.lower()
            for code in recovery:
                assert code not in rows
                assert code.replace("-", "") not in rows


async def test_one_persons_secret_is_no_other_persons(
    office: Office, people: People, ring: Keyring
) -> None:
    """Whoever can write rows can't give somebody an authenticator that they hold."""
    people.with_password()
    thief = People(people.engine)
    theirs = thief.with_password().user_id
    token = await office.token(thief)
    phone, _ = await set_up(office, token)
    await set_up(office, await office.token(people))
    statement = text(
        "UPDATE totp_secrets a JOIN totp_secrets b ON b.user_id = :thief"
        " SET a.sealed = b.sealed, a.kid = b.kid WHERE a.user_id = :victim"
    )
    about = {"thief": theirs, "victim": people.row().user_id}
    transact(people.engine, lambda c: c.execute(statement, about))
    answer = await office.give(await office.token(people), phone.code())
    assert said(answer) == "503 keys-unavailable"


async def test_a_key_that_is_replaced_still_opens_what_it_sealed(
    office: Office, people: People, ring: Keyring
) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    service_keys.replace(people.engine, MasterKeys(lambda: [MASTER]), "totp")
    assert (await office.give(await office.token(people), phone.code())).status_code == 200
    other = People(people.engine)
    other.with_password()
    await set_up(office, await office.token(other))
