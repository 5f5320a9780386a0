"""What is done about a second step while something else is: other sessions, other tries, an end."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from gatepost.errors import NotSignedIn, WrongCode
from gatepost.wire.people import UserRole
from main_server.keys.service import Keyring
from main_server.people.second_step import codes, service
from main_server.people.second_step.service import Given
from main_server.people.sessions import repository as rows
from main_server.people.sessions import service as sessions
from main_server.people.sessions.service import UNTIL_CODE, Opened
from main_server.people.users.repository import User
from main_server.store.database import transact
from tests.integration.main_server.new_people import People
from tests.integration.main_server.office import Office
from tests.integration.main_server.people.second_step.test_second_step import (
    Phone,
    begin,
    said,
    set_up,
)

CONFIRM, REMAKE = "/second-step/confirm", "/second-step/recovery-codes"


def given(people: People, opened: Opened, code: str) -> Given:
    found = transact(people.engine, lambda c: rows.find(c, opened.session_id.bytes))
    assert found is not None
    return Given(found[1], found[0], code, people.address)


def recovery_codes(people: People, user: User) -> int:
    query = text("SELECT COUNT(*) FROM recovery_codes WHERE user_id = :user_id")
    about = {"user_id": user.user_id}
    return int(transact(people.engine, lambda c: c.execute(query, about).scalar_one()))


async def test_a_session_that_ends_meanwhile_begins_no_other(
    office: Office, people: People, ring: Keyring
) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    opened = people.sign_in()
    about = given(people, opened, phone.code())
    sessions.end(people.engine, opened.session_id, people.now)
    with pytest.raises(NotSignedIn):
        service.complete(people.engine, ring, about, office.now)


async def test_after_the_password_a_session_waits_for_a_code_and_no_longer(
    office: Office, people: People
) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    token = await office.token(people)
    office.clock.go_on(int(UNTIL_CODE / timedelta(milliseconds=1)))
    later = Phone(codes.key_in_words(phone.secret), office.now)
    assert said(await office.give(token, later.code())) == "401 not-signed-in"


async def test_a_browser_is_known_by_a_code_and_not_by_the_password_alone(
    office: Office, people: People
) -> None:
    """Else who knows the password alone would be counted apart from those who guess."""
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    by_password = await office.sign_in(people)
    assert by_password.json()["browser"] is None
    whole = await office.give(by_password.json()["access_token"], phone.code())
    assert whole.json()["browser"]


async def test_wrong_codes_take_no_tries_from_the_password(office: Office, people: People) -> None:
    people.with_password()
    phone, _ = await set_up(office, await office.token(people))
    token = await office.token(people)
    answers = [await office.give(token, phone.wrong(), address=people.address) for _ in range(6)]
    assert [said(one) for one in answers] == ["422 wrong-code"] * 5 + ["429 too-many-tries"]
    assert (await office.sign_in(people)).status_code == 200


async def test_a_code_is_for_what_is_asked(office: Office, people: People) -> None:
    """None of a secret that isn't confirmed counts but to confirm it, and that is done once."""
    people.with_password()
    token = await office.token(people)
    phone = await begin(office, token)
    assert said(await office.give(token, phone.code(), REMAKE)) == "422 wrong-code"
    assert (await office.give(token, phone.code(), CONFIRM)).status_code == 200
    assert said(await office.give(token, phone.code(1), CONFIRM)) == "422 wrong-code"


async def test_a_secret_that_is_replaced_meanwhile_is_not_confirmed_by_its_code(
    office: Office, people: People, ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an authenticator would count of which nobody has the secret."""
    people.with_password()
    opened = people.sign_in()
    user = people.row()
    secret = service.begin(people.engine, ring, user, office.now)
    code = codes.code_at(secret, codes.step_at(office.now))
    about, try_ = given(people, opened, code), sessions.begin_try

    def meanwhile(*args: object, **named: object) -> object:
        service.begin(people.engine, ring, user, office.now)
        return try_(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(sessions, "begin_try", meanwhile)
    with pytest.raises(WrongCode):
        service.confirm(people.engine, ring, about, office.now)
    assert service.pending_secret(people.engine, ring, user) not in (None, secret)


async def test_with_an_authenticator_its_recovery_codes_go(office: Office, people: People) -> None:
    user = people.with_password(role=UserRole.ADMIN)
    token = await office.token(people)
    phone, _ = await set_up(office, token)
    assert recovery_codes(people, user) == 10
    assert (await office.give(token, phone.code(), "/second-step/off")).status_code == 204
    assert recovery_codes(people, user) == 0
