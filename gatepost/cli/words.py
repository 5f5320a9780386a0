"""Puts times and states into words, for people. Pure."""

from datetime import UTC, datetime, timedelta

from gatepost.client import MessageStatus

DURABILITY = {
    "full": "kept by queue and ledger",
    "queue": "kept by the queue; the ledger will follow",
    "ledger": "kept by the ledger; the queue will follow",
}
COLOURS = {"delivered": "green", "queued": "yellow", "failed": "red"}
FAILED_FOR = {
    "attempts_used": "every attempt that it was allowed was used",
    "refused": "the gateway refused it for good",
    "expired": "its time was over before it could be delivered",
    "unreadable": "the gateway could not open it",
    "discarded": "somebody who runs the gateway discarded it",
    "key_conflict": "its Idempotency-Key had been used for another message",
}
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60))


def duration(seconds: float) -> str:
    """Return a length of time in its leading unit: 36 ms, 1.2 s, 3 minutes, 2 hours, 40 days."""
    if seconds < 0.9995:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    seconds = max(seconds, 60)
    name, size = next(unit for unit in _UNITS if seconds >= unit[1])
    return plural(int(seconds // size), name)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def moment(time: datetime) -> str:
    text = time.astimezone(UTC).isoformat(sep=" ", timespec="milliseconds")
    return text.replace("+00:00", " UTC")


def ago(time: datetime, now: datetime) -> str:
    passed = (now - time).total_seconds()
    return f"{duration(passed)} ago" if passed >= 0 else f"in {duration(-passed)}"


def course(message: MessageStatus) -> str:
    """Tell how a message came to where it is: `36 ms after it was queued, 1 attempt`."""
    if message.source == "queue":
        return "the queue has it; whether it was delivered can't be known just now"
    count = message.attempt_count
    attempts = plural(count, "attempt") if count else "no attempt yet"
    if message.delivered_at is None:
        return attempts
    passed = message.delivered_at - (message.queued_at or message.created_at)
    return f"{duration(passed.total_seconds())} after it was queued, {attempts}"


def failed_for(message: MessageStatus) -> str:
    """Tell why a message failed; a reason that a later gateway has is told as that calls it."""
    reason = message.reason or ""
    return FAILED_FOR.get(reason) or reason.replace("_", " ")


def validity(not_after: datetime, now: datetime) -> str:
    left = not_after - now
    if left <= timedelta():
        return f"expired {ago(not_after, now)}"
    return f"expires in {duration(left.total_seconds())}"
