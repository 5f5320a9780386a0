"""What is repeated and when: only what makes no second message, and never past the deadline."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.client import errors
from gatepost.client.retries import FIRST_PAUSE, LONGEST_PAUSE, last_word, pause_before_retry

REPEATED = {errors.RateLimited, errors.Unavailable, errors.OutcomeUnknown}
OTHERS = {
    errors.Refused,
    errors.Forbidden,
    errors.NotFound,
    errors.NotSetUp,
    errors.CertificateError,
    errors.UnexpectedAnswer,
}


def test_each_kind_of_error_is_judged_here() -> None:
    bases = {errors.GatepostError, errors.RetryableError, errors.StillWaiting}
    found = {
        cls
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, errors.GatepostError)
    }
    assert found == REPEATED | OTHERS | bases


@pytest.mark.parametrize("cls", sorted(REPEATED, key=str))
def test_what_can_be_repeated_without_harm_is(cls: type[errors.GatepostError]) -> None:
    pause = pause_before_retry(cls("words"), retries=0, remaining=1, jitter=1.0)
    assert pause == FIRST_PAUSE


@pytest.mark.parametrize("cls", sorted(OTHERS, key=str))
def test_nothing_else_is_repeated(cls: type[errors.GatepostError]) -> None:
    pause = pause_before_retry(cls("words"), retries=0, remaining=1e9, jitter=0.5)
    assert pause is None


seconds = st.floats(0, 1e6)


@given(
    asked=st.none() | seconds,
    retries=st.integers(0, 10**9),
    remaining=seconds,
    jitter=st.floats(0, 1),
)
def test_a_pause_is_what_was_asked_and_a_capped_share(
    asked: float | None, retries: int, remaining: float, jitter: float
) -> None:
    error = errors.Unavailable("words", retry_after=asked)
    pause = pause_before_retry(error, retries=retries, remaining=remaining, jitter=jitter)
    if pause is None:
        assert (asked or 0) + LONGEST_PAUSE >= remaining
    else:
        assert (asked or 0) <= pause <= (asked or 0) + LONGEST_PAUSE
        assert pause < remaining


def test_pauses_grow() -> None:
    error = errors.Unavailable("words")
    pauses = [pause_before_retry(error, retries=n, remaining=60, jitter=1.0) for n in (0, 1, 2, 10)]
    assert pauses == [0.2, 0.4, 0.8, 5.0]


def test_the_last_word_remembers_what_may_have_been_accepted() -> None:
    unknown = errors.OutcomeUnknown("perhaps")
    for cls in (errors.Unavailable, errors.RateLimited, errors.Forbidden, errors.CertificateError):
        assert last_word(cls("words"), unknown) is unknown
        error = cls("words")
        assert last_word(error, None) is error
    refused = errors.Refused("words")
    assert last_word(refused, unknown) is refused
