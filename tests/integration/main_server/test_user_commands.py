"""`gatepost user`: who may sign in; no password is ever asked for, shown or given."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
import yaml
from sqlalchemy import Engine, text

from gatepost.cli.main import run
from gatepost.errors import Invalid, TokenRefused
from gatepost.wire.people import UserRole
from main_server.people import authenticator_repository as authenticators
from main_server.people.authenticator_repository import Authenticator
from main_server.people.users import links, repository, service
from main_server.people.users.repository import User
from main_server.store.database import transact
from tests.integration.main_server.new_people import HASH, TESTER, People


class Command:
    def __init__(self, url: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._file, self._capsys = folder / "main_server.yaml", capsys
        tree = {"database": {"url": url}, "portal_url": "https://portal.example:8080"}
        self._file.write_text(yaml.safe_dump(tree))

    def __call__(self, *arguments: str, code: int = 0) -> str:
        assert run(["user", *arguments, "--config", str(self._file)]) == code
        captured = self._capsys.readouterr()
        return captured.out if code == 0 else captured.err

    def json(self, *arguments: str) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self(*arguments, "--json"))
        return said


@pytest.fixture
def command(
    migrated: None, database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Command:
    return Command(database_url, tmp_path, capsys)


@pytest.fixture
def people(engine: Engine) -> People:
    return People(engine)


def secret(said: dict[str, Any]) -> str:
    before, _, token = str(said["link"]).rpartition("/")
    assert before == "https://portal.example:8080/password"
    return token


def test_who_is_created_sets_a_password_by_the_link_once(command: Command, people: People) -> None:
    said = command.json("create", f"{people.name}@example.com", "--role", "admin")
    assert said["role"] == "admin"
    assert people.row().password_hash is None
    links.set_password(people.engine, secret(said), HASH, people.now)
    with pytest.raises(TokenRefused):
        links.set_password(people.engine, secret(said), HASH + "x", people.now)
    assert people.sign_in().user.role is UserRole.ADMIN
    created = ["user.created", "user.link_made", "user.password_set", "session.opened"]
    assert people.audited() == created


def test_a_link_ends_after_a_day_and_when_a_newer_one_is_made(
    command: Command, people: People
) -> None:
    first = secret(command.json("create", f"{people.name}@example.com"))
    second = secret(command.json("reset", f"{people.name}@example.com"))
    with pytest.raises(TokenRefused):
        links.whose(people.engine, first, people.now)
    assert links.whose(people.engine, second, people.now).name == people.name
    people.later(hours=24, seconds=5)
    with pytest.raises(TokenRefused):
        links.whose(people.engine, second, people.now)


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("..@example.com", [], 3),
        ("a b@example.com", [], 3),
        ("x@nowhere.example", [], 4),
        ("x@example.com", ["--role", "super-admin"], 3),
        ("x@gatepost", ["--role", "admin"], 3),
        ("x@example.com", ["--client", "nobody-such"], 4),
    ],
)
def test_a_wrong_order_is_refused(
    command: Command, people: People, name: str, arguments: list[str], code: int
) -> None:
    unused = name.replace("x@", f"x-{uuid4().hex[:8]}@")
    command("create", unused, *arguments, code=code)


def test_a_name_is_never_used_again(command: Command, people: People) -> None:
    name = f"{people.name}@example.com"
    command("create", name)
    command("disable", name)
    assert "There is somebody of this name" in command("create", name, code=3)


def test_disable_and_enable(command: Command, people: People) -> None:
    people.with_password()
    token = people.sign_in().refresh_token
    name = f"{people.name}@example.com"
    assert "is disabled, and signed out everywhere" in command("disable", name)
    assert f"{name}  user  disabled" in command("list", "--domain", "example.com")
    command("reset", name, code=4)
    assert "may sign in again" in command("enable", name)
    with pytest.raises(Exception, match="over"):
        people.refresh(token)
    assert people.sign_in().refresh_token
    assert "is signed out everywhere" in command("sign-out", name)
    command("disable", "nobody-such@example.com", code=4)


def test_rights_are_changed(command: Command, people: People) -> None:
    people.with_password()
    name = f"{people.name}@example.com"
    token = people.sign_in().refresh_token
    command("change", name, code=2)
    assert "has other rights now" in command("change", name, "--no-clients")
    token = people.refresh(token).refresh_token
    assert command.json("change", name, "--role", "admin")["role"] == "admin"
    with pytest.raises(Exception, match="over"):
        people.refresh(token)
    command("change", name, "--role", "super-admin", code=3)
    command("change", name, "--client", "nobody-such", code=4)
    assert people.row().role is UserRole.ADMIN
    assert people.audited().count("user.rights_changed") == 2


def test_a_second_step_is_reset(command: Command, people: People) -> None:
    user = people.with_password()
    now = people.now.replace(tzinfo=None)
    theirs = Authenticator(user.user_id, b"k" * 8, b"sealed", 0, now, now)
    transact(people.engine, lambda c: authenticators.put(c, theirs))
    token = people.sign_in().refresh_token
    said = command("reset-second-step", f"{people.name}@example.com")
    assert "has no authenticator any more" in said
    with pytest.raises(Exception, match="over"):
        people.refresh(token)
    assert transact(people.engine, lambda c: authenticators.find(c, user.user_id)) is None
    assert people.audited()[-1] == "user.second_step_reset"


@pytest.fixture
def nobody_above(engine: Engine) -> Iterator[None]:
    """For this while none of the other tests' super-administrators could sign in."""
    above = "FROM users WHERE role = 'super-admin' AND disabled_at IS NULL"
    with engine.begin() as connection:
        ids = connection.execute(text(f"SELECT user_id {above}")).scalars().all()
        for one in ids:
            repository.change(connection, one, disabled_at=datetime(2026, 1, 1))
    yield
    with engine.begin() as connection:
        for one in ids:
            repository.change(connection, one, disabled_at=None)


def test_the_last_super_administrator_stays(
    command: Command, engine: Engine, nobody_above: None
) -> None:
    one, other = (People(engine, domain="gatepost") for _ in range(2))
    users = [them.with_password(role=UserRole.SUPER_ADMIN) for them in (one, other)]
    People(engine, domain="gatepost").create(role=UserRole.SUPER_ADMIN)  # who has no password yet
    command("disable", one.name)
    assert "the last super-administrator" in command("disable", other.name, code=3)
    command("enable", one.name)
    refused = []

    def disable(user: User) -> None:
        try:
            service.disable(engine, user, one.now, TESTER)
        except Invalid as error:
            refused.append(error.detail)

    threads = [Thread(target=disable, args=[user]) for user in users]  # each puts the other out
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert [them.row().disabled_at is None for them in (one, other)].count(True) == 1
    with engine.begin() as connection:
        for user in users:
            repository.change(connection, user.user_id, disabled_at=one.now.replace(tzinfo=None))


def test_break_glass_is_a_short_link_and_loud_in_the_audit_log(
    command: Command, people: People
) -> None:
    said = command.json("break-glass")
    assert (said["role"], said["name"][-9:]) == ("super-admin", "@gatepost")
    user = links.whose(people.engine, secret(said), people.now)
    people.later(minutes=15, seconds=5)
    with pytest.raises(TokenRefused):
        links.whose(people.engine, secret(said), people.now)
    found = transact(people.engine, lambda c: repository.find(c, "gatepost", user.name))
    assert found is not None
    theirs = People(people.engine, name=user.name, domain="gatepost")
    assert theirs.audited() == ["user.created", "user.break_glass", "user.link_made"]


def test_the_ledger_holds_no_secret(command: Command, people: People) -> None:
    """Neither a link nor a refresh token: whoever reads the tables can't sign in by them."""
    token = secret(command.json("create", f"{people.name}@example.com"))
    links.set_password(people.engine, token, HASH, people.now)
    opened = people.sign_in()
    assert opened.refresh_token is not None
    with people.engine.connect() as connection:
        for table in ("users", "password_links", "sessions", "audit_log"):
            rows = connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            for hidden in (token, opened.refresh_token.partition(".")[2]):
                assert hidden not in str(rows), table
