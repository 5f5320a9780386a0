"""The overview of how the place does, as the main server tells it and the portal shows it.

What a domain's administrator isn't told is None or empty, never zero: a figure of what they share
with others would tell of these (I12). Times are ISO 8601, UTC.
"""

import msgspec


class Flow(msgspec.Struct, frozen=True):
    """The messages of one kind. None where it wasn't known; `series` is oldest first."""

    per_second: float | None
    count: int
    """Messages in the time that the series covers."""
    series: list[float | None]


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """The messages that wait in the queues that are nobody else's."""

    undelivered: int
    ready: int
    retrying: int
    in_hand: int
    in_line: int
    exposed: int
    oldest_ms: int
    limit: int | None
    """The number above which nothing more is taken from the domain."""
    series: list[float | None]


class Part(msgspec.Struct, frozen=True):
    """A part of the place. `state` is ok, trouble or unknown."""

    name: str
    state: str
    words: str


class Process(msgspec.Struct, frozen=True, kw_only=True):
    service: str
    machine: str
    pid: int
    version: str
    up_seconds: int
    silent_seconds: int
    problems: list[str]


class OfDomain(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a domain. `undelivered` and `oldest_ms` are of its queue, which it may share
    with others."""

    domain: str
    accepted: float | None
    delivered: float | None
    retried: int
    failed: int
    undelivered: int | None
    oldest_ms: int | None
    shared: bool


class ExpiresSoon(msgspec.Struct, frozen=True):
    domain: str
    role: str
    name: str
    not_after: str
    days: int


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The overview of a domain; `domain` is None for somebody who sees all. Without `waiting` the
    queue is shared, or Redis doesn't answer: the part that is called Queue says which."""

    at: str
    domain: str | None
    covers_seconds: int
    accepted: Flow
    delivered: Flow
    retried: Flow
    failed: Flow
    waiting: Waiting | None
    parts: list[Part]
    processes: list[Process]
    domains: list[OfDomain]
    certificates: list[ExpiresSoon]
