"""The work of `gatepost user …`, and what it prints."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Engine

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import moment
from gatepost.config.settings import load
from gatepost.safety import forbid_core_dumps
from gatepost.wire.people import UserRole
from main_server.audit.names import client_ids_of, parse_name
from main_server.commands.ca_opening import actor
from main_server.commands.failures import in_words
from main_server.people.users import links, repository, service
from main_server.people.users.repository import User
from main_server.people.users.service import NewUser, Rights
from main_server.settings import UsersOnly
from main_server.store.database import open_ledger, transact

BREAK_GLASS = timedelta(minutes=15)
PATH = "/password/"
"""The path of the portal's page to which a link leads; the secret follows."""


def create(
    config: Path | None, text: str, role: UserRole, clients: list[str], *, json: bool
) -> None:
    with _opened(config) as (engine, portal_url):
        domain, name = parse_name(text)
        wanted = NewUser(domain, name, role, client_ids_of(domain, clients))
        made = service.create(engine, wanted, _now(), actor())
        link = links.make_link(engine, made, _now(), actor())
    _tell_link(made, portal_url, link, links.LIFETIME, json=json)


def list_all(config: Path | None, domain: str | None, *, json: bool) -> None:
    output = Output(json=json)
    with _opened(config) as (engine, _):
        for one in transact(engine, partial(repository.list_users, domain=domain)):
            said = _describe(one)
            if json:
                output.result(said)
            else:
                state = "disabled" if one.disabled_at else "active"
                last = moment(_aware(one.last_login_at)) if one.last_login_at else "never"
                output.say(f"{said['name']}  {one.role}  {state}  last signed in: {last}")


def disable(config: Path | None, text: str, *, json: bool) -> None:
    _change(config, text, service.disable, "is disabled, and signed out everywhere", json=json)


def enable(config: Path | None, text: str, *, json: bool) -> None:
    _change(config, text, service.enable, "may sign in again", json=json)


def sign_out(config: Path | None, text: str, *, json: bool) -> None:
    _change(config, text, service.sign_out, "is signed out everywhere", json=json)


def reset_second_step(config: Path | None, text: str, *, json: bool) -> None:
    words = "is signed out everywhere, and has no authenticator any more"
    _change(config, text, service.reset_second_step, words, json=json)


def change(
    config: Path | None, text: str, role: UserRole | None, clients: list[str] | None, *, json: bool
) -> None:
    """Change a person's rights. `clients` are all of theirs from now on; None leaves them as they
    are."""
    if role is None and clients is None:
        raise Failure("usage", "Say what is to change: --role, --client or --no-clients.")

    def apply(engine: Engine, user: User, now: datetime, actor: str) -> None:
        ids = None if clients is None else client_ids_of(user.domain, clients)
        service.change_rights(engine, user, Rights(role, ids), now, actor)

    _change(config, text, apply, "has other rights now", json=json)


def reset(config: Path | None, text: str, *, json: bool) -> None:
    with _opened(config) as (engine, portal_url):
        found = service.find(engine, *parse_name(text))
        link = links.make_link(engine, found, _now(), actor())
    _tell_link(found, portal_url, link, links.LIFETIME, json=json)


def break_glass(config: Path | None, *, json: bool) -> None:
    with _opened(config) as (engine, portal_url):
        made = service.break_glass(engine, _now(), actor())
        link = links.make_link(engine, made, _now(), actor(), BREAK_GLASS)
    _tell_link(made, portal_url, link, BREAK_GLASS, json=json)


def _change(
    config: Path | None,
    text: str,
    change: Callable[[Engine, User, datetime, str], None],
    words: str,
    *,
    json: bool,
) -> None:
    output = Output(json=json)
    with _opened(config) as (engine, _):
        found = service.find(engine, *parse_name(text))
        change(engine, found, _now(), actor())
        found = service.find(engine, found.domain, found.name)
    if json:
        output.result(_describe(found))
    else:
        output.say(f"{_full_name(found)} {words}.")


def _tell_link(
    user: User, portal_url: str | None, token: str, lifetime: timedelta, *, json: bool
) -> None:
    output, link = Output(json=json), f"{portal_url or ''}{PATH}{token}"
    if json:
        output.result({**_describe(user), "link": link, "expires_at": _now() + lifetime})
        return
    minutes = int(lifetime.total_seconds() // 60)
    good = f"{minutes // 60} hours" if minutes >= 60 else f"{minutes} minutes"
    output.say((_full_name(user), "bold"), f" sets a password here, once, within {good}:")
    output.say(link)
    if portal_url is None:
        output.say("(on the portal; portal_url in the main server's settings makes it whole)")


def _describe(user: User) -> dict[str, Any]:
    return {
        "user_id": str(UUID(bytes=user.user_id)),
        "name": _full_name(user),
        "role": user.role,
        "created_at": _aware(user.created_at),
        "disabled_at": _aware(user.disabled_at) if user.disabled_at else None,
        "last_login_at": _aware(user.last_login_at) if user.last_login_at else None,
    }


def _full_name(user: User) -> str:
    return f"{user.name}@{user.domain}"


@contextmanager
def _opened(config: Path | None) -> Iterator[tuple[Engine, str | None]]:
    forbid_core_dumps()
    with in_words("`gatepost user list` shows who there is."):
        settings = load(UsersOnly, config)
        with open_ledger(settings.database) as engine:
            yield engine, settings.portal_url


def _aware(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC)


def _now() -> datetime:
    return datetime.now(UTC)
