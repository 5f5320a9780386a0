"""Passwords: what will do, and that a wrong one costs as much as a name that nobody has."""

import os

import pytest

from gatepost.errors import Invalid, TooManyTries
from main_server.users import passwords
from main_server.users.passwords import Passwords, check_password, hash_password, is_right

GOOD = "a long walk in the fog"


@pytest.mark.parametrize(
    "password",
    ["", "short", "x" * 11, "abababababab", "x" * 257, "Changeme12345", "alice in wonderland"],
)
def test_what_can_be_guessed_will_not_do(password: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_password(password, "alice")
    assert not password or password not in str(refused.value)


@pytest.mark.parametrize(
    "password", [GOOD, "correct horse battery", "пароль из слов", "x1!" * 5 + "abc"]
)
def test_what_is_long_will_do(password: str) -> None:
    check_password(password, "alice")


@pytest.mark.parametrize("name", ["a", "fog", "ong"])
def test_a_short_name_is_in_many_a_good_one(name: str) -> None:
    check_password(GOOD, name)


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
    monkeypatch.setattr(passwords, "_hasher", Hasher())
    assert not is_right(None, "wrong")
    [nobodys] = compared
    assert nobodys.split("$")[:4] == kept.split("$")[:4]


async def test_too_many_at_once_are_asked_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "MOST_WAITING", 0)
    with pytest.raises(TooManyTries):
        await Passwords().is_right(None, GOOD)
