"""Write and read key backups: every key as it is, and the list of the destroyed ones."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import msgspec
from sqlalchemy import Connection, Engine

from gatepost.decoding import json_decoder
from gatepost.errors import ConfigurationError
from gatepost.whole_file import replace_file
from main_server.keys import repository
from main_server.keys.backup.form import Sealing, open_backup, read_passphrase, seal_backup
from main_server.keys.data_keys import unwrap
from main_server.keys.destroyed_repository import DestroyedKey, list_destroyed
from main_server.keys.master import MasterKeys
from main_server.keys.repository import DataKey, ServiceKey
from main_server.keys.service_keys import unwrap_service_key
from main_server.settings import Keys
from main_server.store.database import transact


class BareDataKey(msgspec.Struct, frozen=True):
    key: DataKey
    secret: bytes


class BareServiceKey(msgspec.Struct, frozen=True):
    key: ServiceKey
    secret: bytes


class Content(msgspec.Struct, frozen=True):
    made_at: datetime
    data_keys: list[BareDataKey]
    service_keys: list[BareServiceKey]
    destroyed: list[DestroyedKey]


_encode = msgspec.json.Encoder().encode
_decode = json_decoder(Content)


def write_backup(engine: Engine, sealing: Sealing, file: Path) -> int:
    """Replace the file; return how many keys are in it."""
    return transact(engine, lambda connection: _write(connection, sealing, file))


def sealing_of(settings: Keys, masters: MasterKeys) -> Sealing:
    return Sealing(masters, read_passphrase(settings.backup_passphrase_file))


def read_backup(sealing: Sealing, file: Path) -> Content:
    try:
        sealed = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}") from None
    try:
        return _decode(open_backup(sealing, sealed))
    except msgspec.MsgspecError:
        raise ConfigurationError(f"{file} was made by another release") from None


def _write(connection: Connection, sealing: Sealing, file: Path) -> int:
    """Write the file. Nobody can destroy a key until it is written; whoever destroys one then
    writes it anew."""
    master_kid = repository.share_master(connection)
    content = Content(
        made_at=repository.read_time(connection),
        data_keys=[
            BareDataKey(replace(key, wrapped=b""), unwrap(sealing.masters, key))
            for key in repository.list_data_keys(connection)
        ],
        service_keys=[
            BareServiceKey(replace(key, wrapped=b""), unwrap_service_key(sealing.masters, key))
            for key in repository.list_service_keys(connection)
        ],
        destroyed=list_destroyed(connection),
    )
    replace_file(file, seal_backup(sealing, master_kid, _encode(content)))
    return len(content.data_keys) + len(content.service_keys)
