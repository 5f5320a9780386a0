"""Passwords as they are kept, and that a wrong one costs as much as a name that nobody has."""

import os

import pytest
from argon2 import PasswordHasher, extract_parameters

from gatepost.errors import TooManyTries
from main_server.people.users import passwords
from main_server.people.users.passwords import Costs, Passwords, hash_password, is_right

GOOD = "a long walk in the fog"


def test_it_costs_what_it_must() -> None:
    """At least OWASP's and RFC 9106's second choice: 64 MiB, three rounds."""
    _, kind, version, cost, *_ = hash_password(GOOD).split("$")
    assert (kind, version) == ("argon2id", "v=19")
    said = {
        name: int(value) for name, _, value in (part.partition("=") for part in cost.split(","))
    }
    assert said["m"] >= 64 * 1024
    assert said["t"] >= 3


async def test_who_hashes_gives_way_to_all_else() -> None:
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    there = await Passwords()._run(lambda: os.getpriority(os.PRIO_PROCESS, 0))
    assert there == min(ours + passwords.NICE, 19) or there == passwords.NICE
    assert os.getpriority(os.PRIO_PROCESS, 0) == ours


def test_it_is_kept_by_argon2id_and_salted() -> None:
    first, second = hash_password(GOOD), hash_password(GOOD)
    assert first.startswith("$argon2id$")
    assert first != second
    assert is_right(first, GOOD)
    assert not is_right(first, GOOD + "x")
    assert not is_right(first, "x" * 100_000)


def test_who_has_no_password_is_not_let_in_by_the_one_that_is_compared_with() -> None:
    assert not is_right(None, "nobody has this password")
    assert not is_right("not a hash", GOOD)


def test_nobody_takes_as_long_as_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared with costs the same: kind, memory, rounds and lanes are in its head."""
    compared: list[str] = []

    class Hasher:
        def verify(self, kept: str, _password: str) -> bool:
            compared.append(kept)
            return True

    kept = hash_password(GOOD)
    monkeypatch.setattr(passwords._COSTS, "now", Hasher())
    assert not is_right(None, "wrong")
    [nobodys] = compared
    assert nobodys.split("$")[:4] == kept.split("$")[:4]


CHEAP = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
DEARER = PasswordHasher(time_cost=2, memory_cost=64, parallelism=1)


def test_when_they_are_to_cost_more_all_looks_cost_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of nobody, of a hash of a former cost, of one of today's, right or wrong."""
    costs, compared = Costs(DEARER, CHEAP), []
    hashes = {"former": CHEAP.hash(GOOD), "today's": DEARER.hash(GOOD), "nobody's": None}
    real = costs._matches

    def matches(hashed: str, password: str) -> bool:
        compared.append(extract_parameters(hashed))
        return real(hashed, password)

    monkeypatch.setattr(costs, "_matches", matches)
    both = [extract_parameters(one.hash("")) for one in (DEARER, CHEAP)]
    for whose, kept in hashes.items():
        for password in (GOOD, "wrong", "nobody has this password"):
            compared.clear()
            assert costs.is_right(kept, password) == (password == GOOD and kept is not None), whose
            assert compared == both, whose


async def test_a_hash_of_a_former_cost_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_COSTS", Costs(DEARER, CHEAP))
    anew = await Passwords().made_anew(CHEAP.hash(GOOD), GOOD)
    assert anew is not None
    assert extract_parameters(anew) == extract_parameters(DEARER.hash(""))
    assert is_right(anew, GOOD)
    assert await Passwords().made_anew(anew, GOOD) is None


def test_what_looks_the_same_is_the_same() -> None:
    """One system types é as one character, another as two."""
    composed, apart = "caf\u00e9 au lait, s'il vous", "cafe\u0301 au lait, s'il vous"
    assert is_right(hash_password(composed), apart)
    assert is_right(hash_password(apart), composed)
    assert not is_right(hash_password(composed), "cafe au lait, s'il vous")


async def test_too_many_at_once_are_asked_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "MOST_WAITING", 0)
    with pytest.raises(TooManyTries):
        await Passwords().is_right(None, GOOD)
