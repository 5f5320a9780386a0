"""Who sees what (I12)."""

from typing import Any

import pytest

from main_server.reading.scope import may_see
from main_server.users.viewer import UserRole, Viewer

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
