"""List keys, for `gatepost keys list`: every key's name, state and times; never the key."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine

from gatepost.cli.words import moment, plural
from main_server.keys import repository
from main_server.keys.destroyed_repository import DestroyedKey, list_destroyed
from main_server.keys.lifetimes import dies_at
from main_server.keys.master import MasterKeys
from main_server.keys.repository import DataKey, ServiceKey
from main_server.keys.rewrap.repository import count_under_others
from main_server.keys.rows.repository import count_day
from main_server.store.database import transact

Line = tuple[dict[str, Any], str]
"""One key, for scripts and for people."""


def describe_all(
    engine: Engine, masters: MasterKeys, client_id: str | None, day: date | None
) -> Iterator[Line]:
    """Yield the keys one by one, as counting messages takes a while; for a client or a day, its
    data keys only."""
    if client_id is None and day is None:
        yield transact(engine, partial(_describe_master, masters=masters))
        yield from map(_describe_service_key, transact(engine, repository.list_service_keys))
    for key in transact(engine, partial(repository.list_data_keys, client_id=client_id, day=day)):
        yield _describe_data_key(key, transact(engine, partial(count_day, pair=key.pair)))
    for destroyed in transact(engine, list_destroyed):
        if _is_asked_for(destroyed, client_id, day):
            yield _describe_destroyed(destroyed)


def _is_asked_for(key: DestroyedKey, client_id: str | None, day: date | None) -> bool:
    """Tell whether a destroyed key is asked for; for all clients and days, only an unfinished one
    is: the list grows every day."""
    if client_id is None and day is None:
        return key.finished_at is None
    return client_id in (None, key.client_id) and day in (None, key.day)


def _describe_master(connection: Connection, masters: MasterKeys) -> Line:
    kid = repository.find_master(connection)
    if kid is None:
        return {"kind": "master", "kid": None, "state": "none"}, "no keys yet"
    masters.get(kid)  # says so if the file does not hold it
    others = count_under_others(connection, kid)
    rotating = others > 0 or masters.newest.kid != kid
    state = "rotating" if rotating else "current"
    words = f"master      {kid.hex()}  {state}"
    if rotating:
        words += f", {plural(others, 'key')} under another: gatepost keys rotate master goes on"
    return {"kind": "master", "kid": kid.hex(), "state": state, "under_others": others}, words


def _describe_service_key(key: ServiceKey) -> Line:
    state = "current" if key.retired_at is None else "replaced"
    document = {
        "kind": key.purpose,
        "kid": key.kid.hex(),
        "state": state,
        "created_at": _aware(key.created_at),
        "replaced_at": _aware(key.retired_at),
    }
    words = f"{key.purpose:<11} {key.kid.hex()}  {state:<9} made {_said(key.created_at)}"
    if key.purpose == "sealing" and key.retired_at is not None:
        dies = dies_at(key.created_at, key.retired_at)
        document["destroyed_at"] = _aware(dies)
        words += f", destroyed {_said(dies)}"
    return document, words


def _describe_data_key(key: DataKey, messages: int) -> Line:
    document = {
        "kind": "data",
        "key_id": str(key.key_id),
        "client_id": key.client_id,
        "day": key.day.isoformat(),
        "state": key.state,
        "messages": messages,
    }
    words = f"data        {key.day}  {key.client_id}  {key.state}  {plural(messages, 'message')}"
    if key.state == "retired":
        words += "  gatepost keys reencrypt goes on"
    return document, words


def _describe_destroyed(key: DestroyedKey) -> Line:
    is_data = key.kind == "data"
    finished = key.finished_at is not None
    document = {
        "kind": key.kind,
        "key_id" if is_data else "kid": str(int.from_bytes(key.kid)) if is_data else key.kid.hex(),
        "client_id": key.client_id,
        "day": key.day.isoformat() if key.day else None,
        "state": "destroyed",
        "cause": key.cause,
        "destroyed_at": _aware(key.destroyed_at),
        "finished": finished,
    }
    whose = f"{key.day}  {key.client_id}" if is_data else key.kid.hex()
    words = f"{key.kind:<11} {whose}  destroyed {_said(key.destroyed_at)}, {key.cause}"
    return document, words if finished else words + "  gatepost keys destroy goes on"


def _aware(time: datetime | None) -> datetime | None:
    return None if time is None else time.replace(tzinfo=UTC)


def _said(time: datetime) -> str:
    return moment(time.replace(tzinfo=UTC))
