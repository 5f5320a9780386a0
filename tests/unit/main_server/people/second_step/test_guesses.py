"""How often codes can be guessed at, by somebody who takes every try as soon as there is one."""

from datetime import datetime, timedelta

from main_server.people.second_step.guesses import EASED, FREE, still_counted, wait_before

NOW = datetime(2026, 11, 18, 12)
MONTH = timedelta(days=30)
GOOD = 3 / 1_000_000


def test_in_a_month_one_in_a_hundred_is_right() -> None:
    now, wrong, last_at, tries = NOW, 0, None, 0
    while now < NOW + MONTH:
        if wait := wait_before(wrong, last_at, now):
            now += wait
            continue
        wrong, last_at, tries = still_counted(wrong, last_at, now) + 1, now, tries + 1
    assert FREE < tries < FREE + MONTH / EASED + 2
    assert tries * GOOD < 0.01


def test_a_few_wrong_ones_hold_nobody_up() -> None:
    for wrong in range(FREE):
        assert not wait_before(wrong, NOW, NOW)
    assert wait_before(FREE, NOW, NOW) == EASED
    assert not wait_before(FREE, NOW, NOW + EASED)


def test_a_clock_that_was_set_back_makes_it_no_longer() -> None:
    assert wait_before(FREE, NOW + MONTH, NOW) == EASED
    assert still_counted(3, NOW + MONTH, NOW) == 3
