"""Who sees what: what is asked for narrows it, and never widens it (I12)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from main_server.messages.reading.scope import Asked, clients_within, domain_within, may_see
from main_server.people.users.viewer import UserRole, Viewer

OWN, OTHER = "one.example", "two.example"
CLIENTS = [f"{domain}:{name}" for domain in (OWN, OTHER) for name in ("a", "b")]


def viewer(role: UserRole = UserRole.USER, **given: Any) -> Viewer:
    whole: dict[str, Any] = {"domain": OWN, "client_ids": frozenset({f"{OWN}:a"})} | given
    return Viewer("01", "ann", role, **whole)


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (UserRole.USER, [f"{OWN}:a"]),
        (UserRole.ADMIN, [f"{OWN}:a", f"{OWN}:b"]),
        (UserRole.SUPER_ADMIN, CLIENTS),
    ],
)
def test_each_role_sees_its_part(role: UserRole, seen: list[str]) -> None:
    found = [one for one in CLIENTS if may_see(viewer(role), one, one.partition(":")[0])]
    assert found == seen


def test_a_client_of_another_domain_is_not_a_users_whatever_their_row_says() -> None:
    mixed = viewer(client_ids=frozenset(CLIENTS))
    assert not may_see(mixed, f"{OTHER}:a", OTHER)


@given(
    role=st.sampled_from([UserRole.USER, UserRole.ADMIN]),
    domain=st.sampled_from([None, OWN, OTHER]),
    client=st.sampled_from([None, *CLIENTS, "nobody:x"]),
)
def test_asking_widens_nothing(role: UserRole, domain: str | None, client: str | None) -> None:
    who, asked = viewer(role), Asked(domain, client)
    assert domain_within(who, asked) == OWN
    of_domain = [f"{OWN}:a"] if role is UserRole.USER else [f"{OWN}:a", f"{OWN}:b"]
    found = clients_within(who, asked, of_domain)
    assert found is not None
    assert all(may_see(who, one, OWN) for one in found)
    if domain == OTHER or client not in (None, *of_domain):
        assert found == []


def test_a_super_administrator_is_narrowed_by_what_they_ask_for() -> None:
    who = viewer(UserRole.SUPER_ADMIN)
    assert clients_within(who, Asked(), None) is None
    assert clients_within(who, Asked(client_id=f"{OTHER}:a"), None) == [f"{OTHER}:a"]
    assert clients_within(who, Asked(OTHER), [f"{OTHER}:a"]) == [f"{OTHER}:a"]
    assert clients_within(who, Asked(OTHER, f"{OWN}:a"), [f"{OTHER}:a"]) == []
