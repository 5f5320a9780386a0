"""What somebody might have written who wants a page to do what it shouldn't."""

from typing import Any

NOW = "2026-11-18T10:00:00.000Z"
HOSTILE = "<img src=x onerror=alert(1)>\"'{{ 7*7 }}"
OPTIONS = [("", "any"), (HOSTILE, HOSTILE)]
"""Of a field that offers some."""
PROBLEM: dict[str, Any] = {
    "title": HOSTILE,
    "detail": HOSTILE,
    "status": 503,
    "retry_after": 5,
    "request_id": "r",
}
WRONG = [None, PROBLEM, PROBLEM | {"errors": [{"pointer": "/reason", "detail": HOSTILE}]}]
