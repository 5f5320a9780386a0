"""What a command on keys works with."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from gatepost.settings import load
from main_server.commanding import in_words
from main_server.database import create_ledger_engine
from main_server.keys.key_file import read_master_keys
from main_server.keys.master import MasterKeys
from main_server.settings import Keys, KeysOnly


@dataclass(frozen=True, slots=True)
class Opened:
    engine: Engine
    masters: MasterKeys
    settings: Keys


@contextmanager
def opened(config: Path | None) -> Iterator[Opened]:
    # A core dump would hold keys.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with in_words("`gatepost keys list` shows what there is."):
        settings = load(KeysOnly, config)
        masters = MasterKeys(partial(read_master_keys, settings.keys.master_key_file))
        engine = create_ledger_engine(settings.database)
        try:
            yield Opened(engine, masters, settings.keys)
        finally:
            engine.dispose()
