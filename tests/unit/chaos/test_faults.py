"""A fault's own doing may fail where the machine starves or a store is away: what was begun is
ended when that is tried again, and what was never begun needs no end.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra.dev.steps import Failure
from tests.chaos.faults import operator
from tests.chaos.faults.clocks import WrongClock
from tests.chaos.faults.fault import Fault
from tests.chaos.faults.network import Narrow, Partition
from tests.chaos.faults.operator import HoldCertificate, RevokeCertificate, RotateKey
from tests.chaos.faults.processes import Freeze, FreezeChild, Kill, Roll
from tests.chaos.faults.stores import CutAof, MemoryFull, PowerCut
from tests.chaos.journal import Journal
from tests.chaos.keeper import Keeper
from tests.chaos.persisting import persist
from tests.heard import wait_until

DONE, UNAVAILABLE, NOT_FOUND, KILLED = 0, 5, 4, -9


class Firewall:
    """Whose every other call fails."""

    def __init__(self) -> None:
        self.rules: list[str] = []
        self._calls = 0

    def add(self, _node: Any, rule: str) -> None:
        self.rules.append(rule)

    def remove(self, _node: Any, rule: str) -> None:
        self._calls += 1
        if self._calls % 2:
            raise Failure("iptables failed: another holds the lock")
        self.rules.remove(rule)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    found = Journal(tmp_path)
    yield found
    found.close()


@pytest.fixture
def keeper(journal: Journal) -> Keeper:
    return Keeper(journal)


@pytest.fixture
def site(tmp_path: Path, journal: Journal, keeper: Keeper) -> Any:
    (tmp_path / "operator.log").write_text("gatepost: the ledger does not answer")
    return SimpleNamespace(
        journal=journal,
        keeper=keeper,
        firewall=Firewall(),
        wires={},
        node=lambda _name: None,
        place=SimpleNamespace(log=lambda _name: tmp_path / "operator.log"),
    )


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[int]], list[str]]:
    """Exit codes of an operator's commands, one after the other; returned is what was called."""

    def answer(codes: Sequence[int]) -> list[str]:
        called, left = list[str](), list(codes)

        def start(_site: Any, *arguments: str) -> Any:
            called.append(" ".join(arguments[:2]))
            code = left.pop(0)
            return SimpleNamespace(wait=lambda _seconds=None: code)

        monkeypatch.setattr(operator, "_start", start)
        return called

    return answer


def play(fault: Fault, site: Any) -> None:
    fault.begin(site)
    end(fault, site)


def end(fault: Fault, site: Any) -> None:
    persist("its end", lambda: fault.end(site), 5.0, sleep=lambda _seconds: None)


def test_a_certificate_is_released_however_often_that_fails(site: Any, commands: Any) -> None:
    called = commands([DONE, UNAVAILABLE, KILLED, DONE])
    play(HoldCertificate("worker-1", 4.0), site)
    assert called == ["cert hold", *["cert release"] * 3]


@pytest.mark.parametrize("held", [UNAVAILABLE, KILLED])
def test_a_certificate_that_was_never_held_needs_no_release(
    site: Any, commands: Any, held: int
) -> None:
    called = commands([held, NOT_FOUND])
    play(HoldCertificate("worker-1", 4.0), site)
    assert called == ["cert hold", "cert release"]


def test_a_certificate_is_revoked_however_often_that_fails(site: Any, commands: Any) -> None:
    called = commands([KILLED, UNAVAILABLE, NOT_FOUND])
    play(RevokeCertificate("leaver_001", 4.0), site)
    assert called == ["cert revoke"] * 3


@pytest.mark.parametrize("way", ["both ways", "reset", "loss"])
def test_a_partition_is_healed_rule_by_rule(site: Any, way: str) -> None:
    play(Partition("redis", 1.0, way), site)
    assert site.firewall.rules == []


def test_a_partition_of_which_half_is_there_is_healed(site: Any) -> None:
    def add(_node: Any, rule: str) -> None:
        if site.firewall.rules:
            raise Failure("iptables failed")
        site.firewall.rules.append(rule)

    site.firewall.add = add
    fault = Partition("redis", 1.0)
    with pytest.raises(Failure):
        fault.begin(site)
    end(fault, site)
    assert site.firewall.rules == []


@pytest.mark.parametrize(
    "fault",
    [
        Kill("proxy-1", 1.0),
        Freeze("proxy-1", 1.0),
        FreezeChild("proxy-1", 1.0),
        Roll("all services", 1.0),
        WrongClock("proxy-1", 1.0),
        Partition("redis", 1.0),
        Narrow("redis", 1.0),
        PowerCut("disk", 1.0),
        CutAof("redis", 1.0),
        MemoryFull("redis", 1.0),
        RotateKey("master", 1.0),
        HoldCertificate("worker-1", 1.0),
        RevokeCertificate("leaver_001", 1.0),
    ],
    ids=lambda fault: fault.name,
)
def test_what_never_began_needs_no_end(fault: Fault, site: Any) -> None:
    fault.end(site)


class Service:
    """A child that has ended, and is started at the third try."""

    def __init__(self) -> None:
        self.tries = 0

    def exit_code(self) -> int | None:
        return 1 if self.tries < 3 else None

    def kill(self) -> None:
        """It is dead already."""

    def launch(self) -> None:
        self.tries += 1
        if self.tries < 3:
            raise BlockingIOError("no more processes")


def test_what_has_ended_is_started_again_whatever_went_wrong_before(
    tmp_path: Path, keeper: Keeper
) -> None:
    service = Service()
    child: Any = service
    keeper.keep("proxy-1", child, service.launch)
    keeper.start()
    try:
        wait_until(lambda: service.tries == 3)
    finally:
        keeper.stop()
    assert "no more processes" in (tmp_path / "notes.jsonl").read_text()


def test_what_is_let_go_twice_is_let_go_once(keeper: Keeper) -> None:
    first, second = keeper.hold("redis"), keeper.hold("redis")
    first.let_go()
    first.let_go()
    assert keeper.is_held("redis")
    second.let_go()
    assert not keeper.is_held("redis")
