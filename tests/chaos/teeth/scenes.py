"""Scenes: what is done to a small site, so that one kind of bug must show within seconds.

Each is green on the tree as it is. Where only Redis may have a message, the main server is away;
where only the ledger may, Redis is; what a wiped Redis may take along is said to the checker.
"""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from gatepost.queue.connection import REPLY_TIMEOUT
from tests.acceptance.two_stores.revoking import revoke_now
from tests.acceptance.two_stores.rig import script
from tests.chaos.checker.case import CALM_AFTER_SECONDS
from tests.chaos.checker.recoveries import ENOUGH
from tests.chaos.refusals import DELIVERS, LOCK_WAIT, ONE_OF_EIGHT, TOO_LONG
from tests.chaos.teeth.bed import Bed
from tests.heard import wait_until
from tests.wire import Fault, Wire

LEASE_AND_MORE = 40.0
"""Errors of the ledger: one that a row would meet again, one that passes."""

Scene = Callable[[Bed], None]


def plain(bed: Bed) -> None:
    """Nothing is broken."""
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load(poison=2.0):
        bed.wait_heard(200)


def poison_found_by_the_reconciler(bed: Bed) -> None:
    """Its row has failed before a worker comes to it."""
    bed.rig.start("main_server", "proxy")
    with bed.load(poison=4.0):
        bed.wait_heard(150)
    wait_until(lambda: not bed.rig.exposed())
    bed.rig.start("worker")


def main_server_away(bed: Bed) -> None:
    """Workers reserve what they can't deliver, and what only Redis has."""
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load():
        with bed.without_main_server():
            bed.wait_heard(150)
        bed.wait_heard(50)


def worker_killed_while_main_server_away(bed: Bed) -> None:
    """A worker dies again and again with what only Redis has in its hands."""
    bed.drain_seconds = LEASE_AND_MORE
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load(), bed.without_main_server():
        for _ in range(2):
            bed.wait_heard(40)
            with bed.fault("kill", "worker"):
                bed.rig.kill("worker")
                bed.rig.launch("worker")
        bed.wait_heard(40)


def both_stores_refuse(bed: Bed) -> None:
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load():
        wires = ("proxy-redis", "proxy-main")
        with bed.fault("partition", "proxy>redis, main"), bed.rig.refused(*wires):
            bed.wait_heard(100)
        bed.wait_heard(50)


def both_stores_hang(bed: Bed) -> None:
    """What was under way is committed after its sender was answered."""
    bed.rig.configure("proxy", "main_server", timeout=2)
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load(rate=40.0):
        wires = ("proxy-redis", "proxy-main")
        with bed.fault("freeze", "proxy>redis, main"), bed.rig.frozen(*wires):
            time.sleep(REPLY_TIMEOUT + 1)
        bed.wait_heard(30)


def redis_wiped_while_they_wait(bed: Bed) -> None:
    """The reconciler has seen that Redis has them all; then it has none of them any more."""
    rig, wire = bed.rig, bed.rig.wires["main-redis"]
    rig.start("main_server", "proxy")
    with bed.load():
        bed.wait_heard(150)
    asked = _listen(wire)
    rig.age()
    with suppress(AssertionError):  # who never asks can't be waited for
        wait_until(lambda: any(script("missing") in request for request in asked[:-2]), 5)
    wire.heal()
    bed.wipe()
    rig.start("worker")


def question_overtaken(bed: Bed) -> None:
    """The reconciler asks what Redis lacks; until it hears, all of it is delivered."""
    rig, wire = bed.rig, bed.rig.wires["main-redis"]
    rig.start("main_server", "proxy", "worker")
    with rig.refused("worker-redis"):
        with bed.load():
            bed.wait_heard(100)
        wire.lose(Fault.HOLD, of=script("missing"))
        rig.age()
        wait_until(lambda: wire.lost > 0)
    wait_until(lambda: rig.waiting() == 0, 6)
    rig.stop("worker")  # what comes back now stays to be seen
    passed = _listen(wire)
    wire.thaw()
    wait_until(lambda: len(passed) > 8)


def refused_for_now(bed: Bed) -> None:
    """One of eight messages is refused until it is a second old; one process delivers."""
    rig = bed.rig
    rig.configure("worker", "worker", retry_interval=3)
    young = "UTC_TIMESTAMP(3) < OLD.created_at + INTERVAL 1 SECOND"
    rig.start("main_server", "proxy", "worker")
    reluctant = bed.refusing("UPDATE", f"{DELIVERS} AND {ONE_OF_EIGHT} AND {young}", TOO_LONG)
    with reluctant, bed.load(rate=60.0, batch=0):
        bed.wait_heard(400)


def commit_replies_lost(bed: Bed) -> None:
    """The ledger commits a delivery, the main server doesn't hear of it and does it again."""
    bed.rig.start("main_server", "proxy", "worker")
    wire = bed.rig.wires["main-ledger"]
    deliveries, armed = count(), False

    def every_other_delivery(request: bytes) -> Fault:
        nonlocal armed
        if b"UPDATE messages SET attempt_count" in request:
            armed = next(deliveries) % 2 == 0
        elif armed and b"COMMIT" in request:
            armed = False
            return Fault.LOSE_REPLY
        return Fault.NONE

    with bed.load(), bed.fault("lost replies", "main>ledger"):
        wire.rule = every_other_delivery
        wait_until(lambda: wire.lost >= 8, 20)
        wire.heal()


def worker_killed_with_a_batch(bed: Bed) -> None:
    """What it had reserved comes back after its lease, and the attempt counts."""
    rig = bed.rig
    bed.drain_seconds = LEASE_AND_MORE
    rig.start("main_server", "proxy", "worker")
    with bed.load():
        bed.wait_heard(50)
        rig.wires["worker-main"].freeze()
        bed.wait_heard(20)  # an offer that was on its way has arrived meanwhile
        wait_until(lambda: _held(bed))
        with bed.fault("kill", "worker", held=_held(bed)):
            rig.kill("worker")
            rig.wires["worker-main"].cut()
            rig.wires["worker-main"].thaw()
            rig.start("worker")
        bed.wait_heard(20)


def _held(bed: Bed) -> list[str]:
    """What the workers have in hand and have not brought to the ledger."""
    leased: Any = bed.rig.redis.zrange(bed.rig.key("leased"), 0, -1)
    rows = bed.rig.sql("SELECT message_id FROM messages WHERE status = 'delivered'")
    delivered = {row["message_id"] for row in rows}
    return [one.hex() for one in leased if one not in delivered]


def settled_too_late(bed: Bed) -> None:
    """A batch that is given back after its lease has ended, when all of it waits to be due."""
    rig, wire = bed.rig, bed.rig.wires["worker-redis"]
    bed.drain_seconds = LEASE_AND_MORE
    rig.configure("worker", "worker", retry_interval=12)
    rig.start("main_server", "proxy", "worker")
    late: list[bytes] = []

    def keep(request: bytes) -> Fault:
        if late or script("give_back") not in request:
            return Fault.NONE
        late.append(request)
        return Fault.LOSE_REQUEST

    with bed.load(keyed=0, twins=0):
        wire.rule = keep
        with bed.without_main_server():
            wait_until(lambda: late)
            bed.wait_heard(20)
    with bed.refusing("UPDATE", DELIVERS, TOO_LONG):
        wait_until(lambda: rig.leased() == 0 and _delayed(bed) == rig.waiting(), LEASE_AND_MORE)
    user = urlsplit(rig.redis_server.url())
    with socket.create_connection(("127.0.0.1", rig.redis_server.port)) as connection:
        connection.sendall(f"AUTH {user.username} {user.password}\r\n".encode())
        assert connection.recv(100) == b"+OK\r\n"
        connection.sendall(late[0])
        assert connection.recv(1000), "what came too late is answered"


def _delayed(bed: Bed) -> int:
    delayed: Any = bed.rig.redis.zcard(bed.rig.key("delayed"))
    return int(delayed)


def redis_wiped_between_repeats(bed: Bed) -> None:
    """A repeat finds no claim in Redis: the ledger's table has to know."""
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load(keyed=70, repeated=100):
        for _ in range(6):
            bed.wait_heard(50)
            bed.wipe()


def claims_lost_while_main_server_away(bed: Bed) -> None:
    """Both posts of a key are in Redis alone, under two ids; the ledger has to find that out."""
    rig = bed.rig
    rig.start("main_server", "proxy")
    with bed.load(keyed=70, repeated=100), bed.without_main_server():
        for _ in range(6):
            bed.wait_heard(40)
            with bed.fault("claims lost", "redis"):
                for key in rig.redis.scan_iter(match="gatepost:idempotency:*"):
                    rig.redis.delete(key)
    rig.start("worker")


def exposed_then_wiped(bed: Bed) -> None:
    """What only Redis had is in the ledger long before Redis is wiped."""
    rig = bed.rig
    rig.start("main_server", "proxy")
    with bed.load(), bed.without_main_server():
        bed.wait_heard(100)
    time.sleep(8.5)  # longer than the checker excuses: three until all is back, then five
    bed.wipe()
    rig.start("worker")


def exposed_and_wiped_at_once(bed: Bed) -> None:
    """What is lost with Redis was said to be in Redis alone."""
    bed.rig.start("main_server", "proxy")
    locked = bed.refusing("INSERT", "TRUE", LOCK_WAIT)
    with bed.load(keyed=0, twins=0), bed.fault("locks", "mariadb"), locked:
        bed.wait_heard(120)
        bed.wipe()
        bed.wait_heard(20)
    bed.rig.start("worker")


def main_server_back_for_long(bed: Bed) -> None:
    """When all has been as usual for a while, both stores have each message again."""
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load():
        with bed.without_main_server():
            bed.wait_heard(150)
        time.sleep(CALM_AFTER_SECONDS + 1)
        bed.wait_heard(2 * ENOUGH)


def ledger_away(bed: Bed) -> None:
    """The main server is there and can't commit."""
    bed.rig.start("main_server", "proxy", "worker")
    with bed.load():
        with bed.fault("partition", "main>mariadb"), bed.rig.refused("main-ledger"):
            bed.wait_heard(120)
        bed.wait_heard(50)


def database_killed(bed: Bed) -> None:
    """SIGKILL: what it has committed is there when it is back."""
    rig = bed.rig
    rig.start("main_server", "proxy", "worker")
    with bed.load():
        for _ in range(3):
            bed.wait_heard(80)
            with bed.fault("kill", "mariadb"):
                rig.maria_server.kill()
                rig.maria_server.start()


def redis_killed_while_main_server_away(bed: Bed) -> None:
    """SIGKILL of the one store that has them: its log has all that was acknowledged."""
    rig = bed.rig
    rig.start("main_server", "proxy")
    with bed.load(), bed.without_main_server():
        bed.wait_heard(120)
        with bed.fault("kill", "redis"):
            rig.redis_server.kill()
            rig.redis_server.start()
        bed.wait_heard(60)
    rig.start("worker")


def too_much_waits(bed: Bed) -> None:
    """More is posted than the domain may have undelivered."""
    bed.rig.sql("UPDATE domains SET max_undelivered = 100")
    bed.rig.start("main_server", "proxy")
    with bed.load():
        bed.wait_heard(350)
    bed.rig.start("worker")


def redis_full_while_main_server_away(bed: Bed) -> None:
    """Redis has as much as it may; what it has is all there is of it."""
    rig = bed.rig
    rig.start("main_server", "proxy")
    with bed.load(), bed.without_main_server():
        bed.wait_heard(100)
        used = rig.redis.info("memory")["used_memory"]
        before = str(rig.redis.config_get("maxmemory")["maxmemory"])
        with bed.fault("maxmemory", "redis"):
            rig.redis.config_set("maxmemory", used - 200_000)
            bed.wait_heard(100)
            rig.redis.config_set("maxmemory", before)
    rig.start("worker")


def power_cut(bed: Bed) -> None:
    """Both stores' disk loses what was not flushed, at one instant; the main server is away, and
    has made the ledger's partitions only seconds ago."""
    rig = bed.rig
    assert bed.disk is not None
    rig.start("main_server", "proxy")
    with bed.load(), bed.without_main_server():
        bed.wait_heard(100)
        with bed.fault("power cut", "disk"):
            bed.disk.cut_power()
            rig.redis_server.kill()
            rig.maria_server.kill()
            bed.disk.power_up()
            rig.redis_server.start()
            rig.maria_server.start()
        bed.wait_heard(30)
    rig.start("worker")


def client_revoked(bed: Bed) -> None:
    """With the main server out of the proxy's reach, so that its list of clients grows old."""
    rig = bed.rig
    rig.start("main_server", "proxy", "worker")
    with bed.load(), bed.fault("partition", "proxy>main"), rig.refused("proxy-main"):
        bed.wait_heard(50)
        with bed.fault("revoke", bed.sender):
            revoke_now(rig, "client_001")
        bed.wait_heard(300)


def _listen(wire: Wire) -> list[bytes]:
    """All passes; what has passed is remembered."""
    heard: list[bytes] = []

    def rule(request: bytes) -> Fault:
        heard.append(request)
        return Fault.NONE

    wire.rule = rule
    return heard


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (
        plain,
        poison_found_by_the_reconciler,
        main_server_away,
        worker_killed_while_main_server_away,
        both_stores_refuse,
        both_stores_hang,
        redis_wiped_while_they_wait,
        question_overtaken,
        refused_for_now,
        commit_replies_lost,
        worker_killed_with_a_batch,
        settled_too_late,
        redis_wiped_between_repeats,
        claims_lost_while_main_server_away,
        exposed_then_wiped,
        exposed_and_wiped_at_once,
        main_server_back_for_long,
        ledger_away,
        database_killed,
        redis_killed_while_main_server_away,
        too_much_waits,
        redis_full_while_main_server_away,
        power_cut,
        client_revoked,
    )
}
