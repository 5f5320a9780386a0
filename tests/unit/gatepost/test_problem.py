"""Problems: every error of ours has one, none says more than it may, none changes its name."""

import json
from collections.abc import Iterator

import pytest

from gatepost import errors
from gatepost.problem import KINDS, describe

STABLE = {
    "malformed": 400,
    "bad-identity": 403,
    "unknown-certificate": 403,
    "revoked-certificate": 403,
    "wrong-role": 403,
    "identity-mismatch": 403,
    "not-found": 404,
    "method-not-allowed": 405,
    "too-large": 413,
    "unsupported-media-type": 415,
    "invalid": 422,
    "rate-limited": 429,
    "unavailable": 503,
    "outcome-unknown": 503,
}
"""What partners' programs rely on: never change one, only add."""

ABSTRACT = {errors.GatepostError, errors.RetryableError}
NEVER_SENT = {errors.CannotOpen, errors.ConfigurationError}
"""They belong to the inside; should one get out, it says nothing of itself."""


def subclasses(cls: type[errors.GatepostError]) -> Iterator[type[errors.GatepostError]]:
    for one in cls.__subclasses__():
        if one.__module__ == errors.__name__:
            yield one
            yield from subclasses(one)


def make(cls: type[errors.GatepostError]) -> errors.GatepostError:
    return errors.MethodNotAllowed("POST") if cls is errors.MethodNotAllowed else cls()


def test_slugs_and_statuses_are_what_partners_rely_on() -> None:
    found = {kind.slug: kind.status for kind in KINDS.values()}
    assert STABLE.items() <= found.items()
    assert len(found) == len(KINDS), "two errors share a slug"


@pytest.mark.parametrize("cls", list(subclasses(errors.GatepostError)))
def test_every_error_of_ours_has_a_kind(cls: type[errors.GatepostError]) -> None:
    if cls in ABSTRACT | NEVER_SENT:
        assert describe(make(cls)).status == 500
        return
    problem = describe(make(cls), "request-1")
    assert cls in KINDS
    document = json.loads(problem.body())
    assert document["type"] == f"urn:gatepost:problem:{KINDS[cls].slug}"
    assert document["title"] == KINDS[cls].title
    assert document["status"] == problem.status == KINDS[cls].status
    assert document["detail"]
    assert document["request_id"] == "request-1"


def test_what_may_succeed_later_says_when() -> None:
    for cls in (errors.RateLimited, errors.Unavailable, errors.OutcomeUnknown):
        assert (b"retry-after", b"7") in describe(cls(retry_after=7)).headers
        assert dict(describe(cls()).headers)[b"retry-after"].isdigit()


@pytest.mark.parametrize("cls", list(subclasses(errors.RetryableError)))
def test_its_document_says_so_too_for_an_item_of_a_batch_has_no_headers(
    cls: type[errors.RetryableError],
) -> None:
    assert describe(cls(retry_after=7)).document["retry_after"] == 7
    assert "retry_after" not in describe(errors.NotFound()).document


def test_a_wrong_method_is_told_the_right_ones() -> None:
    assert describe(errors.MethodNotAllowed("GET, HEAD")).headers == ((b"allow", b"GET, HEAD"),)


def test_each_mistake_stands_at_its_place() -> None:
    mistakes = [errors.FieldError("/a", "is wrong"), errors.FieldError("", "is too")]
    document = json.loads(describe(errors.Invalid(errors=mistakes)).body())
    assert document["errors"] == [
        {"pointer": "/a", "detail": "is wrong"},
        {"pointer": "", "detail": "is too"},
    ]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("CANARY +1234567890"),
        KeyError("CANARY"),
        errors.ConfigurationError("CANARY in /etc"),
        errors.CannotOpen("CANARY"),
        RuntimeError("CANARY\nTraceback (most recent call last)"),
    ],
)
def test_what_is_not_ours_to_tell_is_not_told(error: Exception) -> None:
    problem = describe(error, "request-1")
    assert problem.status == 500
    assert b"CANARY" not in problem.body()
    assert b"Traceback" not in problem.body()
    assert json.loads(problem.body())["type"] == "urn:gatepost:problem:internal"


def test_an_error_says_its_docstring_unless_a_better_one_is_given() -> None:
    assert errors.NotFound().detail == "There is nothing here."
    assert errors.NotFound("Not even this.").detail == "Not even this."
