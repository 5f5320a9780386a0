"""Turns a refusal into an error. Pure; nothing of an answer that isn't a problem is ever
repeated."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from gatepost.client import errors
from gatepost.client.calls import BATCH, MESSAGES, WHOAMI, Call
from gatepost.errors import FieldError

# Another post with the same key is under way: if it is ours, what will come of it is not known.
_UNKNOWN_TYPES = frozenset(
    f"urn:gatepost:problem:{slug}" for slug in ("outcome-unknown", "still-under-way")
)
_LONGEST_WAIT = 1e9
_POLICY = re.compile(r";q=(?P<messages>[1-9]\d{0,8});w=(?P<seconds>[1-9]\d{0,8})\Z", re.ASCII)
NOT_GATEPOST = "The answer is not one of Gatepost's. Does the address lead to its proxy?"

_BY_STATUS: dict[int, type[errors.GatepostError]] = {
    401: errors.Forbidden,
    403: errors.Forbidden,
    404: errors.NotFound,
    429: errors.RateLimited,
    503: errors.Unavailable,
}


def refusal(call: Call, response: httpx.Response, now: datetime) -> errors.GatepostError:
    """Return the error that an answer which is no success stands for."""
    problem, headers = problem_of(response), response.headers
    request_id = _printable(headers.get("X-Request-Id")) or call.request_id
    wait = retry_after(headers.get("Retry-After"), now)
    error = _error(call, response.status_code, problem, request_id, wait)
    return _paced(error, headers.get("RateLimit-Policy"))


def refusal_of_item(call: Call, response: httpx.Response, item: Any) -> errors.GatepostError | None:
    """Return the error for an item of a batch that was refused; None if the answer makes no
    sense."""
    if not isinstance(item, dict) or not isinstance(document := item.get("problem"), dict):
        return None
    status, wait = item.get("status"), document.get("retry_after")
    if not isinstance(status, int) or not 400 <= status <= 599:
        return None
    problem = _problem(document, status, "")
    request_id = _printable(response.headers.get("X-Request-Id")) or call.request_id
    whole = float(wait) if isinstance(wait, int) else None
    error = _error(call, status, problem, request_id, whole)
    return _paced(error, response.headers.get("RateLimit-Policy"))


def _error(
    call: Call,
    status: int,
    problem: errors.Problem | None,
    request_id: str,
    wait: float | None,
) -> errors.GatepostError:
    cls = _class_of(call, status, problem)
    message = _words(cls, status, problem)
    if issubclass(cls, errors.RetryableError):
        return cls(message, problem=problem, request_id=request_id, retry_after=wait)
    return cls(message, problem=problem, request_id=request_id)


def _paced(error: errors.GatepostError, policy: str | None) -> errors.GatepostError:
    """Return the error with the rate that the answer tells: so many messages in so many seconds."""
    granted = _POLICY.search(policy or "")
    if isinstance(error, errors.RateLimited) and granted:
        error.interval = int(granted["seconds"]) / int(granted["messages"])
    return error


def _class_of(
    call: Call, status: int, problem: errors.Problem | None
) -> type[errors.GatepostError]:
    if problem is not None and problem.type in _UNKNOWN_TYPES:
        return errors.OutcomeUnknown
    if problem is None and status < 500 and status != 429:
        return errors.UnexpectedAnswer
    if status == 404 and call.path in (MESSAGES, BATCH, WHOAMI):
        return errors.UnexpectedAnswer
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status < 500:
        return errors.Refused
    # A fault half-way (or of something in between) says nothing about what was done before it.
    return errors.Unavailable if call.repeatable else errors.OutcomeUnknown


def _words(cls: type[errors.GatepostError], status: int, problem: errors.Problem | None) -> str:
    if cls is errors.UnexpectedAnswer:
        return NOT_GATEPOST
    words = f"The answer was {status}, without an explanation."
    places = ""
    if problem is not None:
        words = problem.detail or problem.title or words
        places = "; ".join(f"{e.pointer or '/'}: {e.detail}" for e in problem.errors)
    if cls is errors.OutcomeUnknown and (problem is None or problem.type not in _UNKNOWN_TYPES):
        words = f"{words} {errors.OutcomeUnknown.advice}"
    return f"{words} ({places})" if places else words


def problem_of(response: httpx.Response) -> errors.Problem | None:
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    document = _document(response)
    if media_type != "application/problem+json" or document is None:
        return None
    return _problem(document, response.status_code, response.reason_phrase)


def _problem(document: Mapping[str, Any], status: int, title: str) -> errors.Problem:
    places = document.get("errors")
    return errors.Problem(
        type=_printable(document.get("type"), "about:blank"),
        title=_printable(document.get("title"), title),
        status=status,
        detail=_printable(document.get("detail")),
        errors=tuple(
            FieldError(_printable(place.get("pointer")), _printable(place.get("detail")))
            for place in (places if isinstance(places, list) else [])
            if isinstance(place, dict)
        ),
        request_id=_printable(document.get("request_id")) or None,
    )


def _printable(value: object, otherwise: str = "") -> str:
    """Return the text such that it can't move a terminal's cursor or change its colours."""
    if not isinstance(value, str):
        return otherwise
    return "".join(character if character.isprintable() else " " for character in value)


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds in a Retry-After header, in either of its forms (RFC 9110)."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return min(float(value[:20]), _LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(value)
        left = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    except (ValueError, OverflowError):
        return None
    return max(0.0, left)


def _document(response: httpx.Response) -> Mapping[str, Any] | None:
    try:
        document = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
