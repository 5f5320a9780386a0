"""The keys' loop of each main server: it learns what others have changed, and does what is due.

All may do it, side by side: whoever comes second finds it done. Where the ledger's clock and ours
disagree nothing is replaced or destroyed, for one of them is wrong, and what is destroyed too early
is lost (I1).
"""

import asyncio
import time
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock, to_ms
from gatepost.errors import ConfigurationError, KeysUnavailable
from gatepost.logs import Log
from gatepost.loops import pause
from main_server.keys import repository, service_keys
from main_server.keys.backup.standing import renew_backup
from main_server.keys.lifetimes import is_due
from main_server.keys.service import Keyring
from main_server.settings import Keys
from main_server.store.database import Ledger, transact

TURN_SECONDS = 2.0
NEW_KEYS_SECONDS = 300.0
"""The longest time for which a day's new keys are in the ledger alone, where a backup is kept."""
CLOCKS_DIFFER_MS = 300_000

Events = list[tuple[str, dict[str, Any]]]


async def keys_loop(
    stop: asyncio.Event,
    log: Log,
    ledger: Ledger,
    keyring: Keyring,
    clock: Clock,
    settings: Keys,
) -> None:
    missed, backup_is_old = None, False
    known, look_at = None, 0.0
    while not stop.is_set():
        problem = None
        try:
            for event, fields in await ledger.run(take_turn, keyring, clock.now_ms()):
                log.info(event, **fields)
                backup_is_old = True
            if settings.backup_file and time.monotonic() >= look_at:
                there = await ledger.run(transact, repository.newest_data_keys)
                backup_is_old |= there != known
                known, look_at = there, time.monotonic() + NEW_KEYS_SECONDS
            if backup_is_old:
                await ledger.run(renew_backup, keyring.masters, settings)
                backup_is_old = False
            problem = keyring.problem
        except (ClocksDiffer, ConfigurationError, KeysUnavailable) as error:
            problem = error.detail
        except SQLAlchemyError as error:
            problem = f"the ledger does not answer: {type(error).__name__}"
        if problem and problem != missed:
            log.warning("keys.missed", reason=problem)
        missed = problem
        await pause(stop, TURN_SECONDS)


class ClocksDiffer(KeysUnavailable):
    """The ledger's clock and this machine's are minutes apart: no key is changed by them."""


def take_turn(engine: Engine, keyring: Keyring, now_ms: int) -> Events:
    """Do what is due, and return what was changed; all of it is committed by then."""
    keyring.refresh()
    stored = keyring.service_keys
    now = transact(engine, repository.read_time)
    due = is_due(service_keys.current_of(stored, "sealing").created_at, now)
    dead = service_keys.dead_among(stored, now)
    if not due and not dead:
        return []
    if abs(to_ms(now) - now_ms) > CLOCKS_DIFFER_MS:
        raise ClocksDiffer()
    events: Events = []
    if due and (new := service_keys.replace_if_due(engine, keyring.masters)):
        events.append(("keys.replaced", {"purpose": new.purpose, "kid": new.kid.hex()}))
    if dead:
        destroyed = service_keys.destroy_dead(engine)
        events += [
            ("keys.destroyed", {"purpose": k.purpose, "kid": k.kid.hex()}) for k in destroyed
        ]
    keyring.refresh()
    return events
