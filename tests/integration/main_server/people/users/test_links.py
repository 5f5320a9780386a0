"""Links for a password, and changes of one, on a real ledger: what ends an account's sessions ends
them, too."""

from collections.abc import Callable

import pytest

from gatepost.errors import NotSignedIn, TokenRefused
from main_server.people.users import links, repository, service
from main_server.people.users.repository import User
from tests.integration.main_server.new_people import HASH, TESTER, People

OTHER = HASH + "x"
ENDS: list[Callable[[People, User], object]] = [
    lambda people, user: service.disable(people.engine, user, people.now, TESTER),
    lambda people, user: service.sign_out(people.engine, user, people.now, TESTER),
    lambda people, user: service.set_password(people.engine, user, OTHER, people.now, TESTER),
]
ACTS = pytest.mark.parametrize("end", ENDS, ids=["disable", "sign-out", "new-password"])


def is_good(people: People, token: str) -> bool:
    try:
        links.whose(people.engine, token, people.now)
    except TokenRefused:
        return False
    return True


@ACTS
def test_a_link_ends_with_the_sessions_for_good(
    people: People, end: Callable[[People, User], object]
) -> None:
    user = people.with_password()
    token = links.make_link(people.engine, user, people.now, TESTER)
    assert is_good(people, token)
    end(people, people.row())
    assert not is_good(people, token)
    service.enable(people.engine, user, people.now, TESTER)
    assert not is_good(people, token)


@ACTS
def test_and_those_that_somebody_has_made_end_with_theirs(
    people: People, end: Callable[[People, User], object]
) -> None:
    """A stolen session may have made them, or an administrator who is none any more."""
    maker, other = people.with_password(), People(people.engine)
    user = other.with_password()

    def made(by: bytes | None) -> str:
        return links.make_link(people.engine, user, people.now, TESTER, links.LIFETIME, made_by=by)

    token = made(maker.user_id)
    assert is_good(other, token)
    end(people, people.row())
    assert not is_good(other, token)
    token = made(None)
    end(people, people.row())
    assert is_good(other, token), "the commands' are nobody's"


def test_of_somebody_who_is_disabled_none_is_good(people: People) -> None:
    """Even one that is made in the same moment."""
    user = people.with_password()
    service.disable(people.engine, user, people.now, TESTER)
    service.enable(people.engine, user, people.now, TESTER)
    token = links.make_link(people.engine, user, people.now, TESTER)
    with people.engine.begin() as connection:
        repository.change(connection, user.user_id, disabled_at=people.now)
    assert not is_good(people, token)
    with pytest.raises(TokenRefused):
        links.set_password(people.engine, token, OTHER, people.now)


@pytest.mark.parametrize("how", ["a link", "another change", "disabled", "signed out"])
def test_a_change_that_was_under_way_does_not_win_over_what_ended_it(
    people: People, how: str
) -> None:
    """A thief's, for one: the present password was right when it was looked at."""
    people.with_password()
    looked_at = people.row()
    match how:
        case "a link":
            token = links.make_link(people.engine, looked_at, people.now, TESTER)
            links.set_password(people.engine, token, OTHER, people.now)
        case "another change":
            service.set_password(people.engine, looked_at, OTHER, people.now, TESTER)
        case "disabled":
            service.disable(people.engine, looked_at, people.now, TESTER)
        case _:
            service.sign_out(people.engine, looked_at, people.now, TESTER)
    before = people.row()
    with pytest.raises(NotSignedIn):
        service.set_password(people.engine, looked_at, HASH + "thief", people.now, TESTER)
    assert people.row() == before


def test_a_new_password_and_a_link_end_all_sessions(people: People) -> None:
    user = people.with_password()
    for act in ("password", "link"):
        token = people.sign_in().refresh_token
        if act == "password":
            service.set_password(people.engine, people.row(), OTHER, people.now, TESTER)
        else:
            link = links.make_link(people.engine, user, people.now, TESTER)
            links.set_password(people.engine, link, HASH, people.now)
        with pytest.raises(NotSignedIn):
            people.refresh(token)
