"""Which faults there are to choose from on a site, how often each comes, and how long it lasts."""

import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.chaos.faults.clocks import WrongClock
from tests.chaos.faults.fault import Fault
from tests.chaos.faults.network import WAYS, Narrow, Partition
from tests.chaos.faults.operator import (
    HoldCertificate,
    RenewCertificate,
    RevokeCertificate,
    RotateKey,
)
from tests.chaos.faults.processes import (
    Freeze,
    FreezeChild,
    Kill,
    KillChild,
    KillLeader,
    Roll,
    Terminate,
)
from tests.chaos.faults.stores import (
    CutAof,
    DiskFull,
    FlushAll,
    MemoryFull,
    PowerCut,
    RedisSleeps,
    SomeRefused,
)
from tests.chaos.faults.wires import CutWire, FreezeWire, LossyWire, RefuseWire, SlowWire
from tests.chaos.services import CLIENTS, LEAVERS
from tests.chaos.site import SERVICES, STORES, Site

WORKERS = tuple(name for name in SERVICES if name.startswith("worker"))
SERVERS = tuple(name for name in SERVICES if not name.startswith("worker"))
NODES = (*SERVICES, *STORES)
LONGER_THAN_A_LEASE = (32.0, 36.0)
LONGER_THAN_A_SUPERVISOR_WAITS = (17.0, 20.0)
Dice = random.Random
Seconds = tuple[float, float]


@dataclass(frozen=True)
class Dish:
    """`make` casts the dice for one fault; `weight` says how often, beside the others."""

    weight: float
    make: Callable[[Dice], Fault]


def menu(site: Site) -> list[Dish]:
    """What this site can suffer. The rest needs root, or tools that it hasn't got."""
    dishes = [*_processes(), *_wires(tuple(site.wires)), *_stores(), *_operator()]
    if site.tools.faketime is not None:
        dishes += _clocks()
    if site.network.enclosed and site.tools.firewall is not None:
        dishes += _network(tuple(site.wires))
    if site.network.enclosed and shutil.which("tc"):
        dishes.append(Dish(1, lambda dice: Narrow(dice.choice(NODES), dice.uniform(3, 8))))
    if site.disk is not None:
        dishes += _disk(apart=site.redis.owner is not None)
    return dishes


def destroyers() -> list[Dish]:
    """After these, what only Redis had is gone."""
    return [
        Dish(1, lambda _dice: FlushAll("redis", 0.1)),
        Dish(1, lambda dice: CutAof("redis", 0.2, dice.choice((50, 3_000, 40_000)))),
    ]


def once() -> list[Fault]:
    """What befalls a run a single time each: certificates are renewed, or revoked for good."""
    revoked = [RevokeCertificate(name, 4.0) for name in LEAVERS]
    return [*revoked, *(RenewCertificate(name, 25.0) for name in (*CLIENTS, *SERVICES))]


def last() -> Fault:
    """So that messages wait for a retry while all else is calm."""
    return SomeRefused("mariadb", 4.0)


def _processes() -> list[Dish]:
    some, worker, server = _of(SERVICES), _of(WORKERS), _of(SERVERS)
    return [
        Dish(4, lambda dice: Kill(some(dice), dice.uniform(0.1, 5))),
        Dish(2, lambda dice: Kill(dice.choice(STORES), dice.uniform(0.1, 5))),
        Dish(5, lambda dice: KillChild(some(dice), 0.5, dice.random())),
        Dish(3, lambda dice: KillLeader(some(dice), 0.5)),
        Dish(3, lambda dice: Freeze(server(dice), dice.uniform(0.5, 9))),
        Dish(2, lambda dice: Freeze(worker(dice), dice.uniform(*LONGER_THAN_A_LEASE))),
        Dish(2, lambda dice: Freeze(dice.choice(STORES), dice.uniform(0.3, 4))),
        Dish(
            0.7,
            lambda dice: Freeze(
                dice.choice((*SERVERS, *STORES)), dice.uniform(*LONGER_THAN_A_LEASE)
            ),
        ),
        Dish(
            2,
            lambda dice: FreezeChild(
                some(dice), dice.uniform(*LONGER_THAN_A_SUPERVISOR_WAITS), dice.random()
            ),
        ),
        Dish(2, lambda dice: Terminate(some(dice), 1.0)),
        Dish(0.5, lambda _dice: Roll("all services", 25.0)),
    ]


def _operator() -> list[Dish]:
    keys, some = _of(("master", "sealing", "number-mac")), _of(SERVICES)
    return [
        Dish(1, lambda dice: RotateKey(keys(dice), 6.0)),
        Dish(1, lambda dice: HoldCertificate(some(dice), dice.uniform(4, 8))),
    ]


def _stores() -> list[Dish]:
    return [
        Dish(2, lambda dice: RedisSleeps("redis", dice.uniform(0.2, 3))),
        Dish(1, lambda dice: MemoryFull("redis", dice.uniform(2, 6))),
    ]


def _wires(wires: Sequence[str]) -> list[Dish]:
    some = _of(wires)
    return [
        Dish(4, lambda dice: CutWire(some(dice), 0.1)),
        Dish(2, lambda dice: RefuseWire(some(dice), dice.uniform(0.5, 6))),
        Dish(2, lambda dice: FreezeWire(some(dice), dice.uniform(0.5, 12))),
        Dish(
            3,
            lambda dice: LossyWire(
                some(dice), dice.uniform(2, 8), dice.choice((0.02, 0.2)), dice.getrandbits(32)
            ),
        ),
        Dish(2, lambda dice: SlowWire(some(dice), dice.uniform(2, 8), dice.choice((0.05, 0.3)))),
    ]


def _network(wires: Sequence[str]) -> list[Dish]:
    inner = tuple(wire for wire in wires if not wire.startswith("clients"))
    targets, ways = _of((*NODES, *inner)), _of(tuple(WAYS))
    return [Dish(8, lambda dice: Partition(targets(dice), dice.uniform(0.5, 8), ways(dice)))]


def _clocks() -> list[Dish]:
    some = _of(SERVICES)
    return [
        Dish(
            2,
            lambda dice: WrongClock(some(dice), dice.uniform(5, 12), dice.choice(("+1h", "+400d"))),
        )
    ]


def _disk(*, apart: bool) -> list[Dish]:
    full = _of(("redis", "mariadb", "disk") if apart else ("disk",))
    return [
        Dish(2, lambda dice: PowerCut("disk", dice.uniform(0.1, 2))),
        Dish(2, lambda dice: DiskFull(full(dice), dice.uniform(2, 8))),
    ]


def _of(names: Sequence[str]) -> Callable[[Dice], str]:
    return lambda dice: dice.choice(names)
