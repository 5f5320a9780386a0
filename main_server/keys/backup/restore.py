"""Restore keys: those that the ledger lacks come back, but for the destroyed ones (I6).

The list of destroyed keys is the ledger's and that of the backup: a ledger that was itself restored
may have forgotten some. A day that has got another key meanwhile keeps it, and the restored one
opens what it sealed. A service key that was current is so again.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, Engine

from main_server.keys import repository
from main_server.keys.backup.content import BareDataKey, BareServiceKey, Content
from main_server.keys.destroyed_repository import add_destroyed, kid_of, list_destroyed
from main_server.keys.master import MasterKey, MasterKeys, data_purpose, service_purpose
from main_server.keys.repository import DataKey, ServiceKey
from main_server.keys.service_keys import dead_among
from main_server.store.database import transact

RESTORED, PRESENT, DESTROYED, BLOCKED = "restored", "present", "destroyed", "blocked"


def restore(engine: Engine, masters: MasterKeys, content: Content) -> "Counter[str]":
    """Restore keys; return how many were restored, were there, are destroyed, or have no room
    beside others."""
    return transact(engine, lambda connection: _restore(connection, masters, content))


def count_lost(connection: Connection, content: Content) -> int:
    """Count the keys of a backup that the ledger hasn't, though they are not destroyed."""
    data = _choose_data_keys(connection, content.data_keys)
    now = repository.read_time(connection)
    service = _choose_service_keys(connection, content.service_keys, now)
    listed = {one.kid for one in content.destroyed}
    fates = [(kid_of(one.key.key_id), fate) for one, fate in data]
    fates += [(one.key.kid, fate) for one, fate in service]
    return sum(fate in (RESTORED, BLOCKED) and kid not in listed for kid, fate in fates)


def _restore(connection: Connection, masters: MasterKeys, content: Content) -> "Counter[str]":
    now = repository.read_time(connection)
    repository.begin_master(connection, masters.newest.kid, now)
    master = masters.get(repository.own_master(connection))
    for listed in content.destroyed:
        add_destroyed(connection, listed)
    data = _choose_data_keys(connection, content.data_keys)
    service = _choose_service_keys(connection, content.service_keys, now)
    keys = [_wrap_data_key(master, bare) for bare, fate in data if fate == RESTORED]
    if keys:
        repository.add_data_keys(connection, keys)
    for bare, fate in service:
        if fate == RESTORED:
            if bare.key.retired_at is None:
                repository.retire_service_keys(connection, bare.key.purpose, now)
            repository.add_service_key(connection, _wrap_service_key(master, bare))
    return Counter(fate for _, fate in (*data, *service))


def _choose_data_keys(
    connection: Connection, bare: Iterable[BareDataKey]
) -> list[tuple[BareDataKey, str]]:
    there = repository.list_data_keys(connection)
    ids = {key.key_id for key in there}
    slots = {(key.pair, key.state) for key in there}
    listed = list_destroyed(connection)
    destroyed = {one.kid for one in listed if one.kind == "data"}
    erased = {(one.client_id, one.day) for one in listed if one.cause == "erased"}
    chosen = []
    for one in bare:
        key = one.key
        if key.key_id in ids:
            fate = PRESENT
        elif kid_of(key.key_id) in destroyed or key.pair in erased:
            fate = DESTROYED
        else:
            key = replace(key, state="retired") if (key.pair, key.state) in slots else key
            fate = BLOCKED if (key.pair, key.state) in slots else RESTORED
            slots.add((key.pair, key.state))
        chosen.append((BareDataKey(key, one.secret), fate))
    return chosen


def _choose_service_keys(
    connection: Connection, bare: Iterable[BareServiceKey], now: datetime
) -> list[tuple[BareServiceKey, str]]:
    there = {key.kid for key in repository.list_service_keys(connection)}
    destroyed = {one.kid for one in list_destroyed(connection) if one.kind == "sealing"}
    chosen = []
    for one in bare:
        if one.key.kid in there:
            fate = PRESENT
        elif one.key.kid in destroyed or dead_among([one.key], now):
            fate = DESTROYED
        else:
            fate = RESTORED
        chosen.append((one, fate))
    return chosen


def _wrap_data_key(master: MasterKey, bare: BareDataKey) -> DataKey:
    key = bare.key
    purpose = data_purpose(key.key_id, key.client_id, key.day)
    return replace(key, master_kid=master.kid, wrapped=master.wrap(bare.secret, purpose))


def _wrap_service_key(master: MasterKey, bare: BareServiceKey) -> ServiceKey:
    key = bare.key
    purpose = service_purpose(key.purpose, key.kid)
    return replace(key, master_kid=master.kid, wrapped=master.wrap(bare.secret, purpose))
