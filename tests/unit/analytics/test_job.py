"""What goes wrong in a run is told in words, with the exit code that a script goes by."""

import errno
import os

import pytest

from analytics.errors import ClockDoubted, CountsDisagree, LockLost, PagesUnwritable
from analytics.job import in_words
from gatepost.cli.failure import Failure
from gatepost.errors import ConfigurationError, GatepostError, NotFound


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (LockLost(), "unavailable"),
        (ConfigurationError("days"), "usage"),
        (NotFound("no day"), "not-found"),
        (PagesUnwritable("a page"), "fault"),
        (CountsDisagree("1 and 2"), "refused"),
        (ClockDoubted(), "refused"),
    ],
)
def test_each_of_ours_has_its_kind(error: GatepostError, kind: str) -> None:
    with pytest.raises(Failure) as failure, in_words():
        raise error
    assert (failure.value.kind, failure.value.message) == (kind, error.detail)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/lake/x"), "/lake/x: No space left on"),
        (TimeoutError("timed out"), "it: timed out"),
    ],
)
def test_what_the_machine_refuses_is_a_fault(error: OSError, words: str) -> None:
    with pytest.raises(Failure, match=words) as failure, in_words():
        raise error
    assert failure.value.kind == "fault"
