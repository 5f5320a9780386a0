"""The pages of domains and of the audit log, with all that they may show."""

from typing import Any

from gatepost.wire.audited import AuditAction, AuditCheck, AuditEntry, AuditPage, Detail
from gatepost.wire.domains import Domain
from portal.filters import Filters
from tests.unit.portal import kept_cases
from tests.unit.portal.hostile import HOSTILE, NOW, OPTIONS, WRONG

FILTERS = [Filters(), Filters(*[HOSTILE] * 10)]
DOMAIN: dict[str, Any] = {
    "domain": HOSTILE,
    "queue": None,
    "queue_prefix": None,
    "former_queues": [],
    "max_undelivered": 1_000_000,
    "retention_days": 30,
    "retention_is_usual": True,
    "created_at": NOW,
    "disabled_at": None,
    "clients": 1,
    "people": 1,
}
OTHER: dict[str, Any] = {
    "queue": HOSTILE,
    "former_queues": [HOSTILE],
    "retention_is_usual": False,
    "clients": 3,
    "people": 0,
    "waiting": 7,
    "time_zone": HOSTILE,
}
DOMAINS = [Domain(**(DOMAIN | given)) for given in ({}, OTHER, OTHER | {"disabled_at": NOW})]
SETTINGS = {"domain": HOSTILE, "queue_prefix": HOSTILE, "max_undelivered": HOSTILE}
SETTINGS |= {"retention_days": HOSTILE, "time_zone": HOSTILE}
CASES: list[tuple[str, dict[str, Any]]] = [
    (
        "domains.html",
        {"domains": some, "typed": SETTINGS, "zones": ("UTC", HOSTILE), "problem": problem},
    )
    for some in ([], DOMAINS)
    for problem in WRONG
]
CASES += [
    (
        "domain.html",
        {
            "domain": one,
            "kept": kept,
            "typed": SETTINGS,
            "zones": ("UTC", HOSTILE),
            "done": done,
            "problem": problem,
        },
    )
    for one, kept in zip(DOMAINS, [*kept_cases.SHOWN[:2], kept_cases.SHOWN[0]], strict=True)
    for done in (None, HOSTILE)
    for problem in WRONG
]
ENTRY: dict[str, Any] = {
    "number": None,
    "at": NOW,
    "actor": HOSTILE,
    "actor_in_words": HOSTILE,
    "action": HOSTILE,
    "action_in_words": HOSTILE,
    "domain": None,
    "subject": HOSTILE,
    "subject_in_words": HOSTILE,
    "details": [],
}
ENTRIES = [
    AuditEntry(**(ENTRY | given))
    for given in (
        {},
        {"number": 7, "domain": HOSTILE, "details": [Detail(HOSTILE, HOSTILE * n) for n in (1, 9)]},
    )
]
ACTIONS = [AuditAction(HOSTILE, HOSTILE), AuditAction("user.created", "added somebody")]
CASES += [
    ("audit.html", {"filters": filters, "page": page, "actions": OPTIONS, "problem": problem})
    for filters in FILTERS
    for page in (
        AuditPage([], None, None, []),
        AuditPage([], "1.1", NOW, ACTIONS),
        AuditPage(ENTRIES, None, None, ACTIONS),
        AuditPage(ENTRIES, "1.1", NOW, ACTIONS),
    )
    for problem in WRONG
]


def check(**given: Any) -> AuditCheck:
    whole: dict[str, Any] = {"actor_in_words": HOSTILE, "created_at": NOW, "entries": 1_000}
    rest: dict[str, Any] = {"of": 2_000, "head": HOSTILE, "up_to": NOW, "fault": None}
    return AuditCheck(**(whole | rest | {"state": "whole", "ended_at": NOW} | given))


CASES += [
    ("audit_check.html", {"check": one})
    for one in (
        None,
        check(),
        check(state="running", ended_at=None, up_to=None),
        check(state="broken", fault=HOSTILE, up_to=None, entries=0),
        check(state="broken", fault=HOSTILE),
    )
]
