"""One main server leads, as long as the connection lives that holds the lock."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from infra.dev.engines import MariaServer
from main_server.messages.reconcile.leadership import Leadership
from tests.heard import wait_until
from tests.integration.main_server.conftest import engine_of
from tests.wire import Fault, Wire


@pytest.fixture
def other(database_url: str) -> Iterator[Engine]:
    """Another main server's engine."""
    engine = engine_of(database_url)
    yield engine
    engine.dispose()


def holder(engine: Engine) -> int | None:
    with engine.connect() as connection:
        found = connection.scalar(text("SELECT IS_USED_LOCK('gatepost.reconciler')"))
    return None if found is None else int(found)


def test_one_leads_until_it_lets_go(engine: Engine, other: Engine) -> None:
    first, second = Leadership(), Leadership()
    wait_until(lambda: first.held(engine))
    assert not second.held(other)
    assert first.held(engine)
    first.release(engine)
    wait_until(lambda: second.held(other))
    assert not first.held(engine)
    second.release(other)
    wait_until(lambda: holder(engine) is None)


def test_who_has_died_is_followed(engine: Engine, other: Engine) -> None:
    first, second = Leadership(), Leadership()
    wait_until(lambda: first.held(engine))
    number = holder(engine)
    with other.connect() as connection:
        connection.execute(text(f"KILL {number}"))
    wait_until(lambda: second.held(other))
    assert not first.held(engine)
    second.release(other)
    wait_until(lambda: first.held(engine))
    first.release(engine)


def test_who_was_cut_off_knows_that_it_does_not_lead(
    engine: Engine, database_url: str, maria_server: MariaServer
) -> None:
    first, second = Leadership(), Leadership()
    with Wire(maria_server.port) as wire:
        far = engine_of(database_url.replace(f":{maria_server.port}/", f":{wire.port}/"))
        wait_until(lambda: first.held(far))
        wire.cut()
        wait_until(lambda: second.held(engine))
        assert not first.held(far)
        second.release(engine)
        wait_until(lambda: first.held(far))
        first.release(far)
        far.dispose()


def test_a_connection_that_let_go_goes_not_back_to_the_pool_with_the_lock(engine: Engine) -> None:
    first = Leadership()
    wait_until(lambda: first.held(engine))
    first.release(engine)
    first.release(engine)
    wait_until(lambda: holder(engine) is None)


@pytest.mark.parametrize("led", [False, True], ids=["free", "taken"])
@pytest.mark.parametrize("place", range(6))
def test_whatever_is_lost_on_the_way_is_an_error_of_the_ledger(
    engine: Engine, database_url: str, maria_server: MariaServer, place: int, led: bool
) -> None:
    """An error of the driver's own would end the whole process: nobody expects one."""
    first, second = Leadership(), Leadership()
    if led:
        wait_until(lambda: first.held(engine))
    with Wire(maria_server.port) as wire:
        far = engine_of(database_url.replace(f":{maria_server.port}/", f":{wire.port}/"))
        far.connect().close()  # the pool has one: what follows is said of the lead alone
        pieces = iter(range(100))
        wire.rule = lambda _: Fault.LOSE_REPLY if next(pieces) == place else Fault.NONE
        with suppress(SQLAlchemyError):
            assert second.held(far) is not led
        wire.heal()
        first.release(engine)
        wait_until(lambda: second.held(far))
        second.release(far)
        far.dispose()
    wait_until(lambda: holder(engine) is None)
