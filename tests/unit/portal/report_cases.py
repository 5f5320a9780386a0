"""The page of reports, with all that it may show."""

from typing import Any

from gatepost.insight.rendering import shown
from gatepost.insight.shapes import (
    Attained,
    Attempts,
    Busy,
    Counts,
    Foreseen,
    LastRun,
    Measured,
    Newcomer,
    OfGroup,
    OfPlace,
    Period,
    Reports,
    Senders,
    Silent,
    Times,
    Unusual,
)
from portal.filters import Filters
from portal.pages.reports import Spans
from tests.unit.portal.hostile import HOSTILE, NOW, PROBLEM

SPANS = [Spans("/d", "/y", "/m", "/b", after) for after in (None, "/a")]
TIMES = Times(250.0, 1_300.0, 61_000.0)
COUNTS = Counts(120, 100, 15, 2, 1, 2, 8)
NOTHING = Counts(0, 0, 0, 0, 0, 0, 0)
UNKNOWN = Times(None, None, None)
MEASURED, UNMEASURED = Measured(TIMES, {40: 9, 90: 11}), Measured(UNKNOWN, {})
ATTEMPTS = Attempts(
    2, MEASURED, MEASURED, MEASURED, [[0, 2], [90, 0], [6, 1], [0, 0], [3, 0], [1, 3], [0, 9]]
)
PLACES = [
    OfPlace("2026-11-16", COUNTS, TIMES, {HOSTILE: 10, "expired": 3}),
    OfPlace("2026-11-17", None, UNKNOWN, {}),
    OfPlace("2026-11-18", NOTHING, UNKNOWN, {}),
]
RUNS = [
    None,
    LastRun("nightly", "done", NOW, NOW, 1, 1_000, 0),
    LastRun("rebuild", "running", NOW, None, 2, None, None),
    LastRun("nightly", HOSTILE, NOW, NOW, 2, None, None),
]
WHOLE: dict[str, Any] = {
    "domain": HOSTILE,
    "client": None,
    "first": "2026-11-16",
    "last": "2026-11-18",
    "by": "day",
    "published_first": "2026-11-01",
    "published_until": "2026-11-18",
    "last_run": RUNS[1],
    "whole": Period(2, COUNTS, TIMES),
    "before": Period(28, COUNTS, TIMES),
    "places": PLACES,
    "hours": [[n, n, 0] for n in range(24)],
    "reasons": {HOSTILE: 10, "expired": 3, **{f"other_{n}": 1 for n in range(6)}},
    "buckets": {40: 9, 41: 80, 90: 11},
    "attempts": ATTEMPTS,
    "grouped_by": "client",
    "groups": [OfGroup(HOSTILE, 9, 8, 1, 12.0), OfGroup("b", 3, None, None, None)],
    "more_groups": 3,
    "senders": Senders(1_234, True),
    "senders_by_place": [Senders(900, True), None, None],
    "busiest": [Busy("2026-11-16", 9, 40)],
    "newcomers": [Newcomer(HOSTILE, "2026-11-16")],
    "silent": [Silent(HOSTILE, "2026-11-17", 7)],
    "unusual": [Unusual("2026-11-18", HOSTILE, HOSTILE, HOSTILE, -9.0, HOSTILE, 3.0, 160.0)],
    "foreseen": [Foreseen("rate", 1.0, 2.0, None, None, None, HOSTILE)],
    "attained": [
        Attained("delivery", 60_000, 0.99, 99, 100),
        Attained("acceptance", 100, 0.95, 5, 100),
        Attained(HOSTILE, 100, 0.95, 0, 0),
    ],
}
EMPTY: dict[str, Any] = {
    "whole": Period(0, NOTHING, UNKNOWN),
    "before": None,
    "reasons": {},
    "buckets": {},
    "attempts": None,
    "hours": [[0, 0, 0]] * 24,
    "places": [OfPlace("2026-11-17", None, UNKNOWN, {})],
    "senders": None,
    "senders_by_place": [None],
    **{name: [] for name in ("groups", "unusual", "foreseen", "attained")},
    **{name: [] for name in ("busiest", "newcomers", "silent")},
}


def reports(**given: Any) -> Reports:
    return Reports(**(WHOLE | given))


EVERY = [
    reports(),
    reports(domain=None, grouped_by="domain", by="month", more_groups=0, before=None),
    reports(senders=Senders(5, False), as_of=NOW),
    reports(before=Period(28, NOTHING, UNKNOWN)),
    reports(attempts=Attempts(1, UNMEASURED, UNMEASURED, UNMEASURED, [[0, 0]] * 7)),
    *(reports(**EMPTY, last_run=run) for run in RUNS),
    *(reports(**EMPTY, published_first=None, published_until=None, last_run=run) for run in RUNS),
]
FOR_OTHERS = [
    reports(
        fewest=10,
        places=PLACES[:1],
        hours=[[n, 0, 0] if n else [] for n in range(24)],
        reasons={},
        buckets={},
        groups=[OfGroup("others", 12, None, None, None)],
        attempts=attempts,
        senders=None,
    )
    for attempts in (
        None,
        Attempts(1, Measured(TIMES, {}), UNMEASURED, UNMEASURED, [[], [90, 0], *[[]] * 5]),
        Attempts(1, UNMEASURED, UNMEASURED, UNMEASURED, [[]] * 7),
    )
]
"""As pages of all domains have them; the portal never."""
CASES: list[tuple[str, dict[str, Any]]] = [
    (
        "reports.html",
        {
            **shown(one),
            "filters": filters,
            "spans": spans,
            "link": lambda name: name,
            "problem": problem,
        },
    )
    for one in EVERY
    for filters in (Filters(), Filters(*[HOSTILE] * 10))
    for spans in SPANS
    for problem in (None, PROBLEM)
]
