"""Times in words."""

from datetime import UTC, datetime, timedelta

import pytest

from gatepost.cli import words

NOW = datetime(2026, 11, 18, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-1, "0 ms"),
        (0.0361, "36 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (1.25, "1.2 s"),
        (59.9, "59.9 s"),
        (59.97, "1 minute"),
        (60, "1 minute"),
        (7199, "1 hour"),
        (7200, "2 hours"),
        (86_400 * 40, "40 days"),
    ],
)
def test_durations(seconds: float, expected: str) -> None:
    assert words.duration(seconds) == expected


def test_a_moment_before_and_after_now() -> None:
    assert words.ago(NOW - timedelta(minutes=3), NOW) == "3 minutes ago"
    assert words.ago(NOW + timedelta(hours=2), NOW) == "in 2 hours"


def test_a_certificate_that_has_expired_says_so() -> None:
    assert words.validity(NOW + timedelta(days=30), NOW) == "expires in 30 days"
    assert words.validity(NOW - timedelta(days=2), NOW) == "expired 2 days ago"
