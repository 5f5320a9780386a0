"""Say in words how long what is shown still lives."""

from datetime import UTC, datetime

from gatepost.cli.words import validity


def validity_of(not_after: str) -> str:
    """Return words like `expires in 3 days`, or `expired 2 hours ago`."""
    return validity(datetime.fromisoformat(not_after), datetime.now(UTC))


def is_over(moment: str) -> bool:
    return datetime.fromisoformat(moment) <= datetime.now(UTC)
