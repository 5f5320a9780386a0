"""SIGKILL to a process or a store at a step of the walk: as the step's request is sent. `BEFORE` it
gets lost; `AFTER` it arrives, is done, and its answer gets lost."""

import hashlib
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import proxy.claims
from infra.dev.engines import MariaServer, RedisServer
from tests.acceptance.two_stores.rig import Rig
from tests.acceptance.two_stores.senders import Senders
from tests.heard import wait_until
from tests.wire import Fault

BEFORE, AFTER = Fault.LOSE_REQUEST, Fault.LOSE_REPLY
LUA = Path(proxy.claims.__file__).parent / "lua"
INSERT, UPDATE, ATTEMPTS = b"INSERT INTO messages", b"UPDATE messages SET", b"INSERT INTO attempts"
COMMIT = b"\x03COMMIT"
APPLICATION_DATA = b"\x17"
"""How a TLS record begins that is not part of a handshake."""

Seen = Callable[[bytes], bool]


def holds(part: bytes) -> Seen:
    return lambda request: part in request


def own_script(name: str) -> Seen:
    """A call of one of the proxy's scripts."""
    return holds(hashlib.sha1((LUA / f"{name}.lua").read_bytes()).hexdigest().encode())


def long_request(request: bytes) -> bool:
    """Something with an envelope in it, on a wire on which nothing can be read."""
    return request[:1] == APPLICATION_DATA and len(request) > 700


def commit_of(statement: bytes) -> Seen:
    """The commit that follows such a statement."""
    armed = False

    def seen(request: bytes) -> bool:
        nonlocal armed
        armed = armed or statement in request
        return armed and COMMIT in request

    return seen


def kill_service(rig: Rig, name: str, wire: str, seen: Seen, fault: Fault) -> None:
    """From now on this service dies as it sends that."""
    leader = rig.children[name].pid

    def rule(request: bytes) -> Fault:
        if not seen(request):
            return Fault.NONE
        _kill(leader)
        return fault

    rig.wires[wire].rule = rule


def kill_store(
    rig: Rig, server: RedisServer | MariaServer, wire: str, seen: Seen, fault: Fault
) -> None:
    """From now on this store dies as that reaches it, or as the answer leaves it."""

    def rule(request: bytes) -> Fault:
        if not seen(request):
            return Fault.NONE
        if fault is BEFORE:
            _kill(server.pid)
        return fault

    rig.wires[wire].at_lost_reply = lambda: _kill(server.pid)
    rig.wires[wire].rule = rule


def wait_store_killed(rig: Rig, server: RedisServer | MariaServer, wire: str) -> None:
    wait_until(lambda: server.child.exit_code() is not None, 20)
    rig.wires[wire].heal()
    server.kill()


def _kill(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def end_leases(rig: Rig) -> None:
    """As if the thirty seconds of those who died were over."""
    held: Any = rig.redis.zrange(rig.key("leased"), 0, -1)
    if held:
        rig.redis.zadd(rig.key("leased"), dict.fromkeys(held, 1), xx=True)


def end_well(rig: Rig, senders: Senders, seconds: float = 20.0) -> None:
    """All that was promised is delivered, once, and Redis has forgotten it."""
    promised = list(senders.promised)
    assert promised
    rig.age()
    end_leases(rig)
    rig.wait_delivered(promised, seconds)
    assert rig.delivered_twice(promised) == []
    wait_until(lambda: not rig.waiting() and not rig.exposed(), seconds)
    assert senders.strange == []
