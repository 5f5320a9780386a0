"""The shapes in which the main server tells the portal of reports. Days and hours are UTC's."""

import msgspec


class Counts(msgspec.Struct, frozen=True):
    accepted: int
    delivered: int
    failed: int
    erased: int
    duplicates: int
    waiting: int
    retries: int


class Times(msgspec.Struct, frozen=True):
    """Times from the acceptance to the delivery, in milliseconds; None where nothing was
    delivered."""

    p50: float | None
    p95: float | None
    p99: float | None


class Period(msgspec.Struct, frozen=True):
    """A stretch of days: the number of them that were published, and what is counted of these."""

    days: int
    counts: Counts
    times: Times


class OfPlace(msgspec.Struct, frozen=True):
    """A day or a month. Without `counts`, nothing of it was published."""

    place: str
    counts: Counts | None
    times: Times
    reasons: dict[str, int]


class Measured(msgspec.Struct, frozen=True):
    """Times that were measured: what is read from them, and how many there were by bucket."""

    times: Times
    buckets: dict[int, int]


class Attempts(msgspec.Struct, frozen=True):
    """The waits in the queue and the attempts on those of the days, `days` in number, for which
    they are known."""

    days: int
    first: Measured
    """Waits for the first attempt."""
    again: Measured
    """Waits for another one."""
    took: Measured
    """Attempts that did not deliver."""
    messages: list[list[int]]
    """Messages that have ended, for each of gatepost.insight.said.STEPS: delivered, failed; nothing
    for one that isn't shown."""


class OfGroup(msgspec.Struct, frozen=True):
    """A client, or a domain. What isn't shown is None."""

    name: str
    accepted: int
    delivered: int | None
    failed: int | None
    worst_p95: float | None
    """The worst 95th percentile of its days."""


class Senders(msgspec.Struct, frozen=True):
    """The number of different senders, about; with `upper_bound` it is not more than that."""

    number: int
    upper_bound: bool


class Busy(msgspec.Struct, frozen=True):
    """An hour of a day."""

    day: str
    hour: int
    accepted: int


class Newcomer(msgspec.Struct, frozen=True):
    """A client whose first message ever came on that day."""

    client_id: str
    first_day: str


class Silent(msgspec.Struct, frozen=True):
    """A client that sent nothing on the last day, where so many messages are usual."""

    client_id: str
    last_day: str
    usual: int


class Unusual(msgspec.Struct, frozen=True):
    day: str
    domain: str
    client_id: str
    measure: str
    score: float
    words: str
    value: float
    usual: float


class Foreseen(msgspec.Struct, frozen=True):
    target: str
    at_most: float | None
    at_present: float
    earliest: str | None
    expected: str | None
    latest: str | None
    words: str


class Attained(msgspec.Struct, frozen=True):
    """The attainment of a target: `good` of `total` were within it, and `share` of them should
    be."""

    objective: str
    target_ms: int
    share: float
    good: int
    total: int


class LastRun(msgspec.Struct, frozen=True):
    kind: str
    state: str
    started_at: str
    ended_at: str | None
    days: int
    messages: int | None
    """The messages of all domains; this and the late changes are None for one who may not know."""
    late_changes: int | None


class Reports(msgspec.Struct, frozen=True, kw_only=True):
    """The reports of a range of days. `domain` is None for all domains, `client` for all of the
    domain's clients. Without `published_until` there was no run yet."""

    domain: str | None
    client: str | None
    first: str
    last: str
    by: str
    """The unit of the places: day or month."""
    published_first: str | None
    published_until: str | None
    last_run: LastRun | None
    whole: Period
    before: Period | None
    """The four weeks before the range."""
    places: list[OfPlace]
    hours: list[list[int]]
    """The counts of each hour of the day: accepted, delivered, failed; nothing for one that isn't
    shown."""
    reasons: dict[str, int]
    buckets: dict[int, int]
    attempts: Attempts | None = None
    """The attempts; None where nobody has added them up: releases before this one."""
    grouped_by: str
    """The kind of the groups: client or domain."""
    fewest: int | None = None
    """The fewest messages of which anything is said, in reports for others than those who run the
    place; None in all others."""
    groups: list[OfGroup]
    more_groups: int
    senders: Senders | None
    """The senders in all of the time; None where nobody counted them."""
    senders_by_place: list[Senders | None]
    busiest: list[Busy]
    newcomers: list[Newcomer]
    silent: list[Silent]
    unusual: list[Unusual]
    foreseen: list[Foreseen]
    attained: list[Attained]
    as_of: str | None = None
    """The time that what is published is of, where that is long ago: a replica of the ledger lags
    behind."""
