"""Two main servers as processes of their own, on one ledger and one Redis: both are asked, one of
them reconciles, and when it dies the other does."""

import urllib.request
from collections.abc import Iterator

import pytest

from infra.dev.ports import HOST, free_port
from tests.acceptance.two_stores.killing import BEFORE, end_well, holds, kill_service
from tests.acceptance.two_stores.rig import Rig, script
from tests.acceptance.two_stores.senders import Senders
from tests.heard import wait_until

FIRST, SECOND = "first", "main_server"


@pytest.fixture
def two(whole: Rig) -> Iterator[Rig]:
    """The proxy asks the first, the worker the second."""
    usual = {part: whole.setting("main_server", part, "port") for part in ("server", "pki")}
    whole.set_aside("main_server", FIRST)
    for part in usual:
        whole.configure(SECOND, part, port=free_port())
    whole.start(SECOND)
    whole.wires["proxy-main"].lead_to(port(whole, FIRST))
    whole.wires["worker-main"].lead_to(port(whole, SECOND))
    yield whole
    for name in {FIRST, SECOND} & set(whole.children):
        whole.kill(name)
    for part, number in usual.items():
        whole.configure(SECOND, part, port=number)
    for wire in ("proxy-main", "worker-main"):
        whole.wires[wire].lead_to(usual["server"])


def port(rig: Rig, name: str) -> int:
    return int(rig.setting(name, "server", "port"))


def metric(rig: Rig, name: str, which: str) -> float:
    url = f"http://{HOST}:{rig.ops_port(name)}/metrics"
    with urllib.request.urlopen(url, timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(f"{which} "))


def leads(rig: Rig, name: str) -> bool:
    return metric(rig, name, "gatepost_reconciler_leads") == 1


def enqueued(rig: Rig, name: str) -> float:
    return metric(rig, name, "gatepost_reconciler_enqueued_total")


def take_without_redis(rig: Rig, senders: Senders) -> list[str]:
    """What the proxy thinks only the ledger has; Redis may have got some of it after all."""
    with rig.refused("proxy-redis"):
        senders.flow()
    taken = senders.of("ledger")
    rig.age()
    return taken


def test_one_of_two_reconciles_and_when_it_is_killed_the_other_does(two: Rig) -> None:
    with Senders(two) as senders:
        senders.flow()
        leader, other = (FIRST, SECOND) if leads(two, FIRST) else (SECOND, FIRST)
        assert (leads(two, leader), leads(two, other)) == (True, False)
        two.wait_delivered(take_without_redis(two, senders))
        wait_until(lambda: enqueued(two, leader) > 0)
        assert enqueued(two, other) == 0

        kill_service(two, leader, "main-redis", holds(script("enqueue")), BEFORE)
        take_without_redis(two, senders)
        two.wait_killed(leader)
        two.wires["main-redis"].heal()
        for wire in ("proxy-main", "worker-main"):
            two.wires[wire].lead_to(port(two, other))
        wait_until(lambda: leads(two, other))
        senders.flow()
    end_well(two, senders)
    assert enqueued(two, other) > 0
