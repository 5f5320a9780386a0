"""How long messages are kept, with all that its page may show."""

from typing import Any

from gatepost.wire.retention import Hold, Kept
from tests.unit.portal.hostile import HOSTILE, NOW, WRONG

KEPT: dict[str, Any] = {
    "domain": HOSTILE,
    "client_id": None,
    "retention_days": 30,
    "own_days": None,
    "usual_days": 30,
    "may_set": False,
    "holds": [],
    "next_day": "2026-10-18",
    "next_at": NOW,
    "last_run_at": None,
}
HOLDS = [
    Hold(
        hold="ab",
        domain=HOSTILE,
        client_id=client,
        reason=HOSTILE,
        set_by=HOSTILE,
        set_by_in_words=HOSTILE,
        set_at=NOW,
        may_lift=may,
    )
    for client in (None, HOSTILE)
    for may in (True, False)
]
SHOWN = [
    Kept(**(KEPT | given))
    for given in (
        {},
        {"own_days": 10, "last_run_at": NOW, "holds": HOLDS},
        {"client_id": HOSTILE, "may_set": True},
        {"client_id": HOSTILE, "may_set": True, "own_days": 10, "holds": HOLDS},
    )
]
CASES: list[tuple[str, dict[str, Any]]] = [
    ("kept.html", {"kept": kept, "done": done, "problem": problem})
    for kept in SHOWN
    for done in (None, HOSTILE)
    for problem in WRONG
]
