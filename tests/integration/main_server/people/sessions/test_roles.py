"""Every route of the portal's with every person: the routes and whom they answer are the
application's own, so that a later one can't be forgotten."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from fastapi.routing import APIRoute

from gatepost.wire.people import UserRole
from main_server.process import create_app
from tests.acceptance.test_roles import routes_of
from tests.integration.main_server.new_people import People
from tests.integration.main_server.office import Office
from tests.integration.main_server.people.second_step.test_second_step import said

BEGIN = "/api/portal"
BEFORE = {"GET /keys", "POST /session", "POST /session/refresh", "POST /password/reset"}
"""For who has not signed in, by the portal's certificate alone."""


def people_of(dependant: Any) -> tuple[UserRole, ...] | None:
    """Whom a route answers, as it says by what it depends on."""
    for one in dependant.dependencies:
        if (found := getattr(one.call, "people", None)) or (found := people_of(one)):
            return tuple(found)
    return None


def matrix() -> Iterator[tuple[str, tuple[UserRole, ...] | None]]:
    for path, route in routes_of(create_app(None).api):  # type: ignore[arg-type]
        if isinstance(route, APIRoute) and path.startswith(f"{BEGIN}/"):
            for method in sorted(route.methods or ()):
                yield f"{method} {path.removeprefix(BEGIN)}", people_of(route.dependant)


MATRIX = dict(matrix())


async def ask(office: Office, token: str, one: str) -> str:
    method, _, path = one.partition(" ")
    for name in ("user_id", "serial", "client_id", "domain", "token", "hold_id", "message_id"):
        path = path.replace(f"{{{name}}}", str(uuid4()))
    path = path.replace("{redrive_id}", str(uuid4())).replace("{act}", "disable")
    answer = await office.ask(token, method, path, nothing_that_is_known=1)
    return f"{answer.status_code} -" if answer.status_code < 400 else said(answer)


def test_every_route_says_which_people_it_answers() -> None:
    assert {one for one, people in MATRIX.items() if people is None} == BEFORE
    whom = set(MATRIX.values())
    assert whom >= {tuple(UserRole), (UserRole.ADMIN, UserRole.SUPER_ADMIN)}
    assert (UserRole.SUPER_ADMIN,) in whom


@pytest.mark.parametrize("role", list(UserRole))
async def test_it_answers_the_people_that_it_names_and_no_others(
    office: Office, people: People, role: UserRole
) -> None:
    if role is UserRole.SUPER_ADMIN:
        people = People(people.engine, domain="gatepost")
    until = (people.now + timedelta(days=1)).replace(tzinfo=None)
    people.with_password(role=role, break_glass_until=until)
    token = await office.token(people)
    for one, answered in MATRIX.items():
        if answered is None:
            continue
        found = await ask(office, token, one)
        if found.startswith("401"):  # the one before was signing out
            token = await office.token(people)
            found = await ask(office, token, one)
        if role in answered:
            assert found[:3] != "401", one
            assert found != "403 wrong-role", one
        else:
            assert found == "403 wrong-role", one


async def test_nobody_is_answered_who_has_not_signed_in(office: Office) -> None:
    for one, answered in MATRIX.items():
        if answered is not None:
            for token in ("", "none"):
                assert (await ask(office, token, one)).startswith("401 "), one
