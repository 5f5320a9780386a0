"""The things that a command on keys works with."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from gatepost.config.settings import load
from gatepost.safety import forbid_core_dumps
from main_server.commands.failures import in_words
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.settings import Keys, KeysOnly
from main_server.store.database import open_ledger


@dataclass(frozen=True, slots=True)
class Opened:
    engine: Engine
    masters: MasterKeys
    settings: Keys


@contextmanager
def opened(config: Path | None) -> Iterator[Opened]:
    forbid_core_dumps()
    with in_words("`gatepost keys list` shows what there is."):
        settings = load(KeysOnly, config)
        masters = MasterKeys(partial(read_master_keys, settings.keys.master_key_file))
        with open_ledger(settings.database) as engine:
            yield Opened(engine, masters, settings.keys)
