"""Who has room at a port: by address until a certificate is known, then by that."""

from dataclasses import dataclass, field

import pytest
from prometheus_client import REGISTRY

from gatepost.service.crowd import Crowd
from gatepost.service.turned_away import TurnedAway
from tests.heard import HeardLog

HERE, THERE = "192.0.2.1", "192.0.2.2"


@dataclass(eq=False)
class One:
    at_rest: bool = True
    ended: list["One"] = field(default_factory=list)

    def hang_up(self) -> None:
        self.ended.append(self)


class Door:
    """A crowd of six in all, three of an address."""

    def __init__(self) -> None:
        self.log = HeardLog()
        self.crowd = Crowd(TurnedAway(self.log), of_a_process=6, of_an_address=3)
        self.ended: list[One] = []

    def come(self, address: str = HERE, *, at_rest: bool = True) -> One:
        one = One(at_rest, self.ended)
        assert self.crowd.enter(one, address)
        return one

    def is_refused(self, address: str = HERE) -> bool:
        return not self.crowd.enter(One(), address)

    def bounds(self) -> list[str]:
        return [one["bound"] for one in self.log.of("connections.refused")]


@pytest.fixture
def door() -> Door:
    return Door()


def test_the_longest_at_rest_makes_room_for_another_of_its_address(door: Door) -> None:
    busy, first, second = door.come(at_rest=False), door.come(), door.come()
    elsewhere = door.come(THERE)
    door.come()
    assert door.ended == [first]
    door.crowd.rests(second)
    third = door.come()
    assert (len(door.ended), third in door.ended) == (2, False)
    assert busy not in door.ended
    assert elsewhere not in door.ended
    assert door.bounds() == ["connections of an address"] * 2


def test_who_has_answered_last_goes_last(door: Door) -> None:
    first, second, _third = door.come(), door.come(), door.come()
    door.crowd.rests(first)
    door.come()
    assert door.ended == [second]


def test_an_address_whose_connections_are_all_at_work_is_refused_another(door: Door) -> None:
    busy = [door.come(at_rest=False) for _ in range(3)]
    assert door.is_refused()
    assert not door.ended
    door.come(THERE)
    door.crowd.leave(busy[0])
    door.come()


def test_a_process_has_a_bound_whoever_comes(door: Door) -> None:
    for number in range(6):
        door.come(f"192.0.2.{number}")
    assert door.is_refused("192.0.2.9")
    assert door.bounds() == ["connections of a process"]
    assert len(door.crowd) == 6


def test_one_whose_certificate_is_known_is_its_addresss_no_more(door: Door) -> None:
    """Behind a balancer all come from one address."""
    for number in range(5):
        one = door.come()
        assert door.crowd.belongs_to(one, f"certificate {number}", 2)
    assert not door.ended


def test_a_certificate_has_a_bound_of_its_own(door: Door) -> None:
    many = [door.come() for _ in range(3)]
    assert [door.crowd.belongs_to(one, "same", 2) for one in many] == [True, True, False]
    assert door.log.of("connections.refused")[-1]["fingerprint"] == "same"
    door.crowd.leave(many[0])
    door.crowd.leave(many[2])
    assert door.crowd.belongs_to(door.come(), "same", 2)


@pytest.mark.parametrize(
    ("one", "another", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("", "", True),
    ],
)
def test_who_gets_a_network_is_counted_by_it(
    door: Door, one: str, another: str, same: bool
) -> None:
    for _ in range(3):
        door.come(one)
    door.come(another)
    assert len(door.ended) == (1 if same else 0)


def test_whoever_leaves_twice_or_never_came_disturbs_nobody(door: Door) -> None:
    one = door.come()
    for _ in range(2):
        door.crowd.leave(one)
    door.crowd.leave(One())
    door.crowd.rests(one)
    assert len(door.crowd) == 0


def counted() -> float:
    labels = {"bound": "handshake"}
    return REGISTRY.get_sample_value("gatepost_connections_refused_total", labels) or 0


def test_what_is_said_of_a_flood_is_bounded_and_nothing_of_it_is_lost() -> None:
    log, now, before = HeardLog(), [0.0], counted()
    turned_away = TurnedAway(log, lambda: now[0])
    for _ in range(1_000):
        turned_away.handshake("wrong version number")
    assert len(log.of("tls.refused")) == 100
    now[0] = 2.5
    turned_away.handshake("no suitable key share")
    assert log.of("tls.refused")[-1] == {
        "level": "warning",
        "event": "tls.refused",
        "reason": "no suitable key share",
        "untold": 900,
    }
    assert counted() == before + 1_001
