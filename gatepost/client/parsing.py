"""Turns a successful answer into a value. Pure. Fields that are new to us are passed over."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx

from gatepost.client.answers import Certificate, Formats, Identity, Limits, MessageStatus, Receipt
from gatepost.client.calls import Call
from gatepost.client.errors import UnexpectedAnswer

_LARGEST = 2**53


def parse_receipt(call: Call, response: httpx.Response) -> Receipt:
    answer = _Answer.of(response)
    return Receipt(
        message_id=answer.text("message_id"),
        status=answer.text("status"),
        queued_at=answer.moment("queued_at"),
        durability=answer.text("durability"),
        request_id=response.headers.get("X-Request-Id"),
        idempotency_key=call.headers["Idempotency-Key"],
    )


def parse_accepted_item(item: Any, key: str, response: httpx.Response) -> Receipt | None:
    """Return the receipt of an item of a batch; None if it has none."""
    if not isinstance(item, dict) or item.get("status") != 202:
        return None
    request_id = response.headers.get("X-Request-Id")
    answer = _Answer(item, request_id)
    try:
        return Receipt(
            message_id=answer.text("message_id"),
            status="queued",
            queued_at=answer.moment("queued_at"),
            durability=answer.text("durability"),
            request_id=request_id,
            idempotency_key=key,
        )
    except UnexpectedAnswer:
        return None


def parse_status(response: httpx.Response) -> MessageStatus:
    answer = _Answer.of(response)
    return MessageStatus(
        message_id=answer.text("message_id"),
        status=answer.text("status"),
        created_at=answer.moment("created_at"),
        queued_at=answer.moment_or_none("queued_at"),
        delivered_at=answer.moment_or_none("delivered_at"),
        attempt_count=int(answer.number("attempt_count")),
        reason=answer.text_or_none("reason"),
        source=answer.text_or_none("source"),
    )


def parse_identity(response: httpx.Response) -> Identity:
    answer = _Answer.of(response)
    certificate, limits = answer.part("certificate"), answer.part("limits")
    return Identity(
        client_id=answer.text("client_id"),
        domain=answer.text("domain"),
        role=answer.text("role"),
        name=answer.text("name"),
        certificate=Certificate(
            fingerprint=certificate.text("fingerprint"),
            serial=certificate.text("serial"),
            not_before=certificate.moment("not_before"),
            not_after=certificate.moment("not_after"),
        ),
        limits=Limits(limits.number("rate_per_second"), int(limits.number("burst"))),
        formats=Formats(int(answer.part("formats").number("max_body_characters"))),
    )


class _Answer:
    """A JSON object, read field by field; a missing or odd field raises UnexpectedAnswer."""

    def __init__(self, fields: Mapping[str, Any], request_id: str | None) -> None:
        self._fields = fields
        self._request_id = request_id

    @classmethod
    def of(cls, response: httpx.Response) -> "_Answer":
        request_id = response.headers.get("X-Request-Id")
        try:
            fields = json.loads(response.content)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise UnexpectedAnswer(
                "The answer is not one of Gatepost's. Does the address lead to its proxy?",
                request_id=request_id,
            )
        return cls(fields, request_id)

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str) or not value.isprintable():
            raise self._odd(name)
        return value

    def text_or_none(self, name: str) -> str | None:
        return None if self._fields.get(name) is None else self.text(name)

    def number(self, name: str) -> float:
        value = self._fields.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._odd(name)
        if not 0 <= value <= _LARGEST:
            raise self._odd(name)
        return value

    def moment(self, name: str) -> datetime:
        try:
            moment = datetime.fromisoformat(self.text(name))
        except ValueError:
            raise self._odd(name) from None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def moment_or_none(self, name: str) -> datetime | None:
        return None if self._fields.get(name) is None else self.moment(name)

    def part(self, name: str) -> "_Answer":
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise self._odd(name)
        return _Answer(value, self._request_id)

    def _odd(self, name: str) -> UnexpectedAnswer:
        words = f"The gateway's answer has no usable {name!r}. Is this client too old for it?"
        return UnexpectedAnswer(words, request_id=self._request_id)
