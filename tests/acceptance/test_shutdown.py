"""Stopping: what has begun is finished, what is new goes elsewhere, nothing is lost or left."""

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from gatepost.trust.tls import client_context
from tests.acceptance.site import (
    MESSAGES,
    Site,
    Traffic,
    Wire,
    accepted,
    eventually,
    has_ended,
    post,
    submission,
)

BODY = json.dumps(submission()).encode()
HEAD = (
    f"POST {MESSAGES} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(BODY)}\r\n\r\n"
).encode()


@pytest.fixture(autouse=True)
def whole_again(site: Site) -> Iterator[None]:
    """Whatever a test has ended is back before the next one begins."""
    yield
    site.wait_ready()


def test_sigterm_finishes_the_requests_that_have_begun(site: Site) -> None:
    leader, *children = site.pids("proxy")
    context = client_context(site.files("client_001"))
    with ExitStack() as opened:
        wires = [opened.enter_context(Wire(site.url("proxy"), context)) for _ in range(6)]
        idle, busy = wires[:3], wires[3:]
        for one in wires:
            one.send(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
            assert one.answer()[0] == 404
        for one in busy:
            one.send(HEAD + BODY[:10])
        eventually(lambda: all(waits_for_more(one) for one in busy), "they have begun")
        os.kill(leader, signal.SIGTERM)
        for one in idle:
            assert one.answer()[0] == 0, "an idle connection is closed"
        for one in busy:
            one.send(BODY[10:])
        answers = [one.answer() for one in busy]
        # The connections are still open at this side, as in a pool that isn't looked at.
        eventually(lambda: all(map(has_ended, children)), "the end of the children", 10)
        assert [one.answer()[0] for one in busy] == [0] * 3, "and so are these"
    assert [status for status, _, _ in answers] == [202] * 3
    # One process may have answered before it was told: what it says then, it doesn't know yet.
    assert {headers.get("connection", "close") for _, headers, _ in answers} == {"close"}
    site.back("proxy", leader)
    site.wait_delivered(*(json.loads(body)["message_id"] for _, _, body in answers))
    assert not site.events("proxy", "process.killed", pid=leader)
    assert site.events("proxy", "service.stopped", pid=leader)


def test_who_had_just_come_when_a_service_is_stopped_is_answered(site: Site) -> None:
    """Some are through the handshake, some at its beginning; who comes later is refused."""
    leader, context = site.pids("proxy")[0], client_context(site.files("client_001"))
    parts = urlsplit(site.url("proxy"))
    place = (str(parts.hostname), int(parts.port or 0))
    with ExitStack() as opened:
        wires = [opened.enter_context(Wire(site.url("proxy"), context)) for _ in range(3)]
        doors = [opened.enter_context(socket.create_connection(place)) for _ in range(3)]
        eventually(lambda: not waiting_at(place[1]), "somebody has let them in")
        os.kill(leader, signal.SIGTERM)
        shaken = [opened.enter_context(Wire(site.url("proxy"), context, door)) for door in doors]
        eventually(lambda: is_refused(place), "nobody takes calls", 2)
        answers = []
        for wire in (*wires, *shaken):
            wire.send(HEAD + BODY)
            answers.append(wire.answer())
    assert [status for status, _, _ in answers] == [202] * 6
    assert {headers["connection"] for _, headers, _ in answers} == {"close"}
    site.back("proxy", leader)
    site.wait_delivered(*(json.loads(body)["message_id"] for _, _, body in answers))


def waiting_at(port: int) -> int:
    """How many connections the kernel has made that nobody has accepted."""
    with open("/proc/net/tcp", encoding="ascii") as table:  # noqa: PTH123
        rows = [line.split() for line in table]
    (queued,) = (row[4] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A")
    return int(queued.partition(":")[2], 16)


def is_refused(place: tuple[str, int]) -> bool:
    try:
        socket.create_connection(place, 1).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_pool_that_is_not_looked_at_does_not_hold_a_stop_up(site: Site) -> None:
    leader = site.pids("proxy")[0]
    with site.calling() as client:
        accepted(post(client))
        started = time.monotonic()
        os.kill(leader, signal.SIGTERM)
        eventually(lambda: has_ended(leader), "the end of it", 10)
        assert time.monotonic() - started < 6
    site.back("proxy", leader)


def waits_for_more(_wire: Wire) -> bool:
    """The server has read what there was: nothing of it waits in its socket."""
    local, remote = _wire.socket.getsockname(), _wire.socket.getpeername()
    theirs = f"{remote[1]:04X}", f"{local[1]:04X}"
    with open("/proc/net/tcp", encoding="ascii") as table:  # noqa: PTH123
        for line in table:
            fields = line.split()
            if (fields[1][-4:], fields[2][-4:]) == theirs:
                return fields[4].endswith(":00000000")
    return False


@pytest.mark.parametrize("service", ["worker", "main_server", "proxy"])
def test_a_service_that_is_stopped_in_mid_traffic_loses_nothing(site: Site, service: str) -> None:
    before = site.pids(service)[0]
    with Traffic(site) as traffic:
        traffic.flows()
        os.kill(before, signal.SIGTERM)
        site.back(service, before)
        traffic.flows()
    assert traffic.strange == []
    site.wait_delivered(*traffic.promised)
    assert not site.events(service, "process.killed", pid=before)
    assert not site.events(service, "process.failed", pid=before)


def test_a_worker_that_stops_gives_back_what_it_holds(site: Site) -> None:
    """Messages are delivered at once by those who follow, not after the lease."""
    worker, main_server = site.pids("worker")[0], site.pids("main_server")[0]
    with site.calling() as client:
        with site.without("main_server"):
            sent = [accepted(post(client)) for _ in range(20)]
            os.kill(worker, signal.SIGTERM)
            eventually(lambda: has_ended(worker), "the end of it")
        site.back("main_server", main_server)
        site.back("worker", worker)
        started = time.monotonic()
        site.wait_ready()
        site.wait_delivered(*sent, seconds=10)
    assert time.monotonic() - started < 15


def test_children_do_not_outlive_a_service_that_is_killed(site: Site) -> None:
    for service in ("worker", "proxy", "main_server"):
        leader, *children = site.pids(service)
        os.kill(leader, signal.SIGKILL)
        eventually(lambda pids=children: all(map(has_ended, pids)), "their end", 5)  # type: ignore[misc]
        site.back(service, leader)
    site.wait_ready()
    with site.calling() as client:
        site.wait_delivered(accepted(post(client)))
