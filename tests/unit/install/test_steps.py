"""Steps: shown, done, passed over; one that can't be done stops all and says what there is."""

import pytest

from gatepost.install.steps import Failure, Step, carry_out, show


def step(what: str, done: list[str], *, can: bool = True, works: bool = True) -> Step:
    def do() -> None:
        if not can:
            raise Failure("there is no such thing")
        if works:
            done.append(what)

    return Step(what, lambda: what in done, do)


def test_what_is_done_is_passed_over_and_the_rest_done_in_order() -> None:
    said: list[str] = []
    done = ["second"]
    steps = [step(what, done) for what in ("first", "second", "third")]
    assert show(steps, said.append) == 2
    assert done == ["second"], "it was only shown"
    assert carry_out(steps, said.append).changed == ["first", "third"]
    assert done == ["second", "first", "third"]
    assert carry_out(steps, said.append).changed == []


@pytest.mark.parametrize("kind", ["can", "works"])
def test_one_that_cannot_be_done_stops_all_and_says_so(kind: str) -> None:
    done: list[str] = []
    bad = step("second", done, can=kind != "can", works=kind != "works")
    with pytest.raises(Failure) as failure:
        carry_out([step("first", done), bad, step("third", done)], lambda _: None)
    assert done == ["first"]
    words = str(failure.value)
    assert "Step 2 of 3 can't be done: second" in words
    assert "1 step was done" in words
    assert "run the same command again" in words


def test_a_disk_that_is_full_is_said_in_words() -> None:
    def write() -> None:
        raise OSError(28, "No space left on device", "/opt/file")

    with pytest.raises(Failure, match="No space left on device"):
        carry_out([Step("a file", lambda: False, write)], lambda _: None)
