"""What a process says of itself, and how it counts."""

import msgspec
import pytest

from gatepost.wire import vitals
from gatepost.wire.vitals import Answered, Tally, decode_vitals, encode_vitals
from tests.factories import vitals_of


def test_they_come_as_they_were_said() -> None:
    said = vitals_of(checks={"queue": (True, "slow")}, totals={"accepted": {"a.example": 3}})
    assert decode_vitals(encode_vitals(said)) == said
    said = vitals_of(answered=Answered(3, 2, {"2.5": 1, "100": 3}))
    assert decode_vitals(encode_vitals(said)) == said


@pytest.mark.parametrize(
    "wrong",
    [
        {"process": "x"},
        {"service": "Proxy; rm"},
        {"machine": "m" * 300},
        {"totals": {"accepted": {"a": -1}}},
        {"checks": {"queue": [True, "x" * 2000]}},
        {"answered": {"count": 1, "accepted": 1, "within_ms": {"soon": 1}}},
        {"answered": {"count": -1, "accepted": 1, "within_ms": {}}},
    ],
)
def test_what_no_process_of_ours_says_is_refused(wrong: dict[str, object]) -> None:
    tree = msgspec.json.decode(encode_vitals(vitals_of()))
    with pytest.raises(msgspec.ValidationError):
        decode_vitals(msgspec.json.encode(tree | wrong))


def test_it_counts_by_domain_and_of_too_many_domains_one_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vitals, "MOST_DOMAINS", 2)
    tally = Tally()
    for domain in ("a", "b", "c", "d", "a"):
        tally.count("delivered", domain)
    assert tally.totals == {"delivered": {"a": 2, "b": 1, "": 2}}
