"""Who guesses is slowed down, on a real ledger; who holds the account isn't."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import cycle
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from gatepost.errors import TooManyTries
from main_server.people.sessions.backoff import FORGOTTEN, Kind, keys_for
from main_server.store.database import transact
from tests.integration.main_server.new_people import People

A_WHILE = 1200


def tries_until_refused(people: People, most: int, **given: str) -> int:
    for number in range(most):
        try:
            people.try_(**given)
        except TooManyTries:
            return number
    return most


def test_after_wrong_tries_one_waits_and_then_is_taken_again(people: People) -> None:
    people.with_password()
    assert tries_until_refused(people, 50) == Kind.HERE.value
    people.later(seconds=2)
    assert people.sign_in().refresh_token, "nobody is locked out"
    assert tries_until_refused(people, 50) == Kind.HERE.value, "and it is counted anew"
    people.later(seconds=FORGOTTEN.total_seconds())
    assert tries_until_refused(people, 50) >= Kind.HERE.value - 1


def test_a_name_that_nobody_has_is_slowed_down_alike(people: People) -> None:
    assert tries_until_refused(people, 50) == Kind.HERE.value


def taken(people: People, seconds: int, guess: Callable[[], Any]) -> int:
    """How many tries a guesser gets who asks each second, for so long."""
    found = 0
    for _ in range(seconds):
        people.later(seconds=1)
        try:
            guess()
            found += 1
        except TooManyTries:
            pass
    return found


def guesser(people: People, networks: Iterator[str]) -> Callable[[], Any]:
    return lambda: people.try_(address=next(networks))


def networks(count: int) -> Iterator[str]:
    """Over and over; of this test alone, for each has its own time."""
    town = uuid4().hex
    return cycle(f"{town}-{number}" for number in range(count))


def test_a_guesser_elsewhere_takes_no_try_of_the_holder(people: People) -> None:
    """Even one who asks each second, so that they have every try as soon as it is free."""
    people.with_password()
    guess = guesser(people, networks(1))
    taken(people, A_WHILE, guess)
    for _ in range(Kind.HERE.value):
        people.try_(address=people.address)
        taken(people, 10, guess)


def test_a_guesser_with_a_site_of_ipv6_takes_none_either(people: People) -> None:
    site = f"2001:db8:{uuid4().hex[:4]}"
    many = cycle(f"{site}:{number:x}::1" for number in range(65_536))
    got = taken(people, A_WHILE, guesser(people, many))
    assert got < Kind.SITE.value + 30, "one a minute, beyond those that are free"
    assert tries_until_refused(people, 50, address=people.address) == Kind.HERE.value


def test_many_networks_together_have_the_budget_of_the_account(people: People) -> None:
    """A browser in which the holder has signed in before is none of them."""
    many = networks(200)
    got = taken(people, A_WHILE, guesser(people, many))
    assert got < Kind.ACCOUNT.value + 50, "two a minute, beyond those that are free"
    with pytest.raises(TooManyTries) as refused:
        people.try_(address=people.address)
    assert refused.value.retry_after <= 30
    assert tries_until_refused(people, 50, known="this browser") == Kind.HERE.value


def test_a_guesser_in_the_same_network_does_not_hold_up_a_browser_that_is_known(
    people: People,
) -> None:
    taken(people, 600, guesser(people, cycle([people.address])))
    with pytest.raises(TooManyTries):
        people.try_()
    people.try_(known="this browser")


def test_that_the_holder_signs_in_gives_guessers_no_new_tries(people: People) -> None:
    people.with_password()
    many = networks(200)
    taken(people, Kind.ACCOUNT.value - 1, guesser(people, many))
    people.sign_in()
    assert taken(people, 20, guesser(people, many)) <= 2


def test_an_address_that_tries_many_names_is_slowed_down(people: People) -> None:
    for number in range(Kind.NETWORK.value):
        people.try_(f"{people.name}-{number}")
    with pytest.raises(TooManyTries) as refused:
        people.try_(f"{people.name}-other")
    assert refused.value.retry_after >= 1
    people.try_(f"{people.name}-other", "elsewhere")


def test_of_ipv6_a_network_is_one_address_and_a_site_has_more_tries(people: People) -> None:
    site = f"2001:db8:{uuid4().hex[:4]}"
    for number in range(Kind.NETWORK.value):
        people.try_(f"{people.name}-{number}", f"{site}:1::{number + 1:x}")
    with pytest.raises(TooManyTries):
        people.try_(f"{people.name}-other", f"{site}:1::ffff")
    for number in range(Kind.NETWORK.value):
        people.try_(f"{people.name}-{number}-2", f"{site}:2:{number + 1:x}::1")
    with pytest.raises(TooManyTries):
        people.try_(f"{people.name}-other", f"{site}:3::1")


def test_names_that_somebody_made_up_are_forgotten(people: People) -> None:
    def known() -> int:
        query = text("SELECT COUNT(*) FROM sign_in_tries WHERE tried = :tried")
        keys = keys_for(people.domain, people.name, people.address, None)
        about = {"tried": keys[Kind.HERE]}
        return int(transact(people.engine, lambda c: c.scalar(query, about)) or 0)

    people.try_()
    assert known() == 1
    people.later(seconds=FORGOTTEN.total_seconds() + 1)
    tries = 0
    while known() and tries < 50:  # a hundred go with each
        people.try_(f"{people.name}-{tries}", f"elsewhere-{people.name}-{tries}")
        tries += 1
    assert known() == 0


def test_who_signs_in_is_no_burden_to_the_address(people: People) -> None:
    people.with_password()
    for _ in range(Kind.NETWORK.value + 5):
        people.sign_in()


def test_that_an_account_is_guessed_at_is_in_the_audit_log_once_in_a_while(people: People) -> None:
    people.with_password()
    before = people.audited()
    taken(people, int(FORGOTTEN.total_seconds()) - 60, guesser(people, networks(1)))
    assert people.audited() == [*before, "session.slowed_down"]
    people.later(seconds=FORGOTTEN.total_seconds() * 2)
    taken(people, 60, guesser(people, networks(1)))
    assert people.audited()[len(before) :] == ["session.slowed_down"] * 2


def test_of_a_name_that_nobody_has_it_is_noted_without_the_name(people: People) -> None:
    def noted() -> list[Any]:
        query = text("SELECT subject, domain FROM audit_log WHERE details LIKE :d")
        digest = keys_for(people.domain, people.name, "", None)[Kind.ACCOUNT].hex()[:16]
        given = {"d": f"%{digest}%"}
        return [tuple(row) for row in transact(people.engine, lambda c: c.execute(query, given))]

    tries_until_refused(people, 50)
    assert noted() == [("nobody of this name", None)]


def test_waits_are_short_wherever_one_is(people: People) -> None:
    many = networks(200)
    taken(people, 900, guesser(people, many))
    for where in (next(many), people.address):
        with pytest.raises(TooManyTries) as refused:
            tries_until_refused(people, 1, address=where) or people.try_(address=where)
        assert timedelta(seconds=refused.value.retry_after) <= timedelta(seconds=60)


def test_of_ipv6_a_whole_network_is_one(people: People) -> None:
    """Everybody has 2 to the 64 addresses in theirs."""
    network = f"2001:db8:{uuid4().hex[:4]}:{uuid4().hex[:4]}"
    for number in range(Kind.HERE.value):
        people.try_(address=f"{network}::{number:x}")
    with pytest.raises(TooManyTries):
        people.try_(address=f"{network}:aaaa:bbbb:cccc:dddd")
