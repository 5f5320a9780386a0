"""Sessions on a real ledger: they begin with a password, and end at once when they must."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from gatepost.errors import NotSignedIn, WrongCredentials
from main_server.people.sessions import repository, service
from main_server.people.sessions.service import BOTH_COUNT, IDLE, LIFETIME
from main_server.people.users import service as users
from main_server.store.database import transact
from tests.integration.main_server.new_people import TESTER, People


def is_over(people: People, token: str | None) -> bool:
    try:
        people.refresh(token)
    except NotSignedIn:
        return True
    return False


def test_a_refresh_token_is_replaced_each_time(people: People) -> None:
    people.with_password()
    first = people.sign_in().refresh_token
    second = people.refresh(first).refresh_token
    assert second not in (None, first)
    people.later(seconds=60)
    assert people.refresh(second).refresh_token not in (None, first, second)
    assert people.audited()[-1] == "session.opened"


def test_a_token_that_was_stolen_ends_its_session(people: People) -> None:
    """One of the two shows what the other has replaced: nobody can tell who, so both are out."""
    people.with_password()
    stolen = people.sign_in().refresh_token
    holders = people.refresh(stolen).refresh_token
    people.later(seconds=BOTH_COUNT.total_seconds())
    thiefs = people.refresh(stolen).refresh_token
    assert is_over(people, holders)
    assert is_over(people, thiefs)
    assert is_over(people, stolen)
    assert people.audited()[-1] == "session.token_reused"


def test_who_never_got_the_new_token_goes_on_with_the_one_before(people: People) -> None:
    """Its answer was lost, between two networks or in a tab that was closed."""
    people.with_password()
    first = people.sign_in().refresh_token
    for _ in range(2):
        people.refresh(first)
        people.later(minutes=20)
    newest = people.refresh(first).refresh_token
    people.later(minutes=20)
    assert people.refresh(newest).refresh_token, "it has arrived"
    assert is_over(people, first), "so the one before is nobody's any more"
    assert people.audited()[-1] == "session.token_reused"


def test_who_knows_a_session_by_its_id_alone_cannot_end_it(people: People) -> None:
    """It is in the audit log, and in each access token."""
    people.with_password()
    opened = people.sign_in()
    assert opened.refresh_token is not None
    session_id, family, secret = opened.refresh_token.split(".")
    for guess in ("wrong", "wrong.wrong", f"wrong.{secret}", ".", secret):
        assert is_over(people, f"{session_id}.{guess}")
    assert not is_over(people, opened.refresh_token)
    assert is_over(people, f"{session_id}.{family}.wrong"), "who knows more has had a token"
    assert people.audited()[-1] == "session.token_reused"


def test_of_many_who_show_a_token_at_once_one_gets_a_new_one(people: People) -> None:
    people.with_password()
    token = people.sign_in().refresh_token
    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            found = [one.refresh_token for one in threads.map(people.refresh, [token] * 8)]
            [token] = [one for one in found if one is not None]
            people.later(seconds=BOTH_COUNT.total_seconds())


def test_an_older_token_than_the_one_before_ends_its_session_at_once(people: People) -> None:
    people.with_password()
    tokens = [people.sign_in().refresh_token]
    for _ in range(2):
        tokens.append(people.refresh(tokens[-1]).refresh_token)
    assert is_over(people, tokens[0])
    assert is_over(people, tokens[-1])


def test_for_a_moment_both_count_for_a_browser_asks_for_several_pages_at_once(
    people: People,
) -> None:
    people.with_password()
    first = people.sign_in().refresh_token
    second = people.refresh(first).refresh_token
    assert people.refresh(first).refresh_token is None, "the newer one stays"
    people.later(seconds=60)
    assert not is_over(people, second)


@pytest.mark.parametrize("token", ["", "x", "x.y", "0" * 32, "0" * 32 + ".x", "é.\udcff.x"])
def test_what_is_no_token_is_refused(people: People, token: str) -> None:
    assert is_over(people, token)


def test_a_session_ends_when_it_is_not_used_and_at_the_end_of_the_day(people: People) -> None:
    people.with_password()
    unused = people.sign_in().refresh_token
    people.later(seconds=IDLE.total_seconds())
    assert is_over(people, unused)
    used = people.sign_in().refresh_token
    for _ in range(LIFETIME // timedelta(hours=1) - 1):
        people.later(hours=1)
        used = people.refresh(used).refresh_token
    people.later(hours=1)
    assert is_over(people, used)


@pytest.mark.parametrize("act", [users.disable, users.sign_out])
def test_who_is_disabled_or_signed_out_is_out_everywhere(people: People, act: object) -> None:
    user = people.with_password()
    tokens = [people.sign_in().refresh_token for _ in range(2)]
    act(people.engine, user, people.now, TESTER)  # type: ignore[operator]
    assert all(is_over(people, token) for token in tokens)


def test_one_session_can_be_ended_by_itself(people: People) -> None:
    people.with_password()
    mine, other = people.sign_in(), people.sign_in()
    service.end(people.engine, mine.session_id, people.now)
    assert is_over(people, mine.refresh_token)
    assert not is_over(people, other.refresh_token)


def test_who_was_disabled_while_the_password_was_looked_at_is_not_let_in(people: People) -> None:
    user = people.with_password()
    tried = people.try_()
    users.disable(people.engine, user, people.now, TESTER)
    with pytest.raises(WrongCredentials):
        service.open_session(people.engine, tried, people.now)


def test_nobody_is_let_in_by_a_name_that_nobody_has(people: People) -> None:
    with pytest.raises(WrongCredentials):
        service.open_session(people.engine, people.try_(), people.now)


def test_the_time_before_is_kept(people: People) -> None:
    people.with_password()
    began = people.now.replace(tzinfo=None)
    people.sign_in()
    people.later(hours=1)
    opened = people.sign_in()
    found = transact(people.engine, lambda c: repository.find(c, opened.session_id.bytes))
    assert found is not None
    previous = found[0].previous_login_at
    assert previous is not None
    assert abs(previous - began) < timedelta(milliseconds=1)
    assert people.row().last_login_at == found[0].created_at


def test_who_signs_in_again_in_a_browser_ends_the_session_that_it_had(people: People) -> None:
    people.with_password()
    before, elsewhere = people.sign_in().refresh_token, people.sign_in().refresh_token
    assert before is not None
    session_id, _, secret = before.split(".")
    for none in ("", "x", "é.x.y", f"{session_id}.wrong.{secret}", "0" * 32 + ".x.y"):
        service.end_by(people.engine, none, people.now)
    before = people.refresh(before).refresh_token
    assert before is not None, "nothing came of guesses"
    service.end_by(people.engine, before, people.now)
    assert people.audited()[-1] == "session.ended"
    assert is_over(people, before)
    assert not is_over(people, elsewhere)
