"""What an answer says of each message in a post, in the words of the history."""

import json
from typing import Any

from tests.chaos.history import Heard, History, Kind
from tests.chaos.workload.posting import Answer

_AGAIN_LATER = {409, 429, 503}
_UNKNOWN = "outcome-unknown"


def note(history: History, op: str, kind: Kind, answer: Answer, count: int) -> list[Heard]:
    """Writes down the end of an operation; what was heard of each item, nothing if unknown."""
    told = _document(answer)
    if kind == "batch" and answer.status == 200:
        heard = [_of_item(item) for item in told["items"]]
        history.ok(op, kind, heard)
        return heard
    one = _of_single(answer, told)
    if one.type == _UNKNOWN:
        history.info(op, kind, _UNKNOWN)
        return []
    if one.status in _AGAIN_LATER:
        history.fail(op, kind, f"status {one.status}", one)
    else:
        history.ok(op, kind, [one] * count)
    return [one] * count


def _of_single(answer: Answer, told: dict[str, Any]) -> Heard:
    return Heard(
        answer.status,
        message_id=told.get("message_id"),
        durability=told.get("durability"),
        replayed=answer.headers.get("idempotency-replayed") == "true",
        type=_slug(told),
        retry_after=answer.headers.get("retry-after"),
    )


def _of_item(item: dict[str, Any]) -> Heard:
    return Heard(
        item["status"],
        message_id=item.get("message_id"),
        durability=item.get("durability"),
        type=_slug(item.get("problem", {})),
    )


def _slug(problem: dict[str, Any]) -> str | None:
    kind = problem.get("type")
    return None if kind is None else str(kind).rpartition(":")[2]


def _document(answer: Answer) -> dict[str, Any]:
    try:
        found = json.loads(answer.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
