"""The menu: who is offered what, and where it says that they are."""

from uuid import uuid4

import pytest

from gatepost.service.access_tokens import Claims
from gatepost.wire.people import UserRole
from portal.menu import menu_for


def claims(role: UserRole) -> Claims:
    return Claims(uuid4(), uuid4(), "alice", "example.com", role)


def current(path: str) -> dict[str, str]:
    menu = menu_for(claims(UserRole.ADMIN), path)
    return {one.address: one.current for one in (*menu.entries, menu.account) if one.current}


def test_a_user_is_offered_what_is_for_users() -> None:
    assert [one.words for one in menu_for(claims(UserRole.USER), "/").entries] == ["Messages"]
    assert len(menu_for(claims(UserRole.ADMIN), "/").entries) > 5


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/messages", {"/messages": "page"}),
        ("/messages/0190", {"/messages": "true"}),
        ("/messagesque", {}),
        ("/tokens", {"/clients": "true"}),
        ("/audit/check", {"/audit": "true"}),
        ("/account", {"/account": "page"}),
        ("/account/second-step", {"/account": "true"}),
        ("/nothing", {}),
    ],
)
def test_it_says_where_one_is(path: str, found: dict[str, str]) -> None:
    assert current(path) == found
