"""Codes: those of RFC 6238, good for a minute or so, each once; recovery codes however typed."""

from base64 import b32decode
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from main_server.people.second_step import codes

RFC = b"12345678901234567890"
NOW = datetime(2026, 11, 18, 20, 0, 10, tzinfo=UTC)
HERE = codes.step_at(NOW)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        # The last six digits of the RFC's eight (appendix B, SHA1).
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_they_are_those_of_the_rfc(seconds: int, code: str) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    assert codes.code_at(RFC, codes.step_at(moment)) == code
    assert codes.matching_step(RFC, code, moment, 0) == seconds // 30


@pytest.mark.parametrize(
    ("ago", "counts"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_the_one_before_and_the_one_after_count_too(ago: int, counts: bool) -> None:
    step = HERE - ago
    assert codes.matching_step(RFC, codes.code_at(RFC, step), NOW, 0) == (step if counts else None)


def test_what_was_used_and_what_is_older_counts_no_more() -> None:
    for step in (HERE - 1, HERE):
        assert codes.matching_step(RFC, codes.code_at(RFC, step), NOW, HERE) is None
    later = codes.code_at(RFC, HERE + 1)
    assert codes.matching_step(RFC, later, NOW, HERE) == HERE + 1


@pytest.mark.parametrize("typed", ["{} {}", " {}-{} ", "{}{}\n"])
def test_however_it_is_typed(typed: str) -> None:
    code = codes.code_at(RFC, HERE)
    assert codes.matching_step(RFC, typed.format(code[:3], code[3:]), NOW, 0) == HERE


@pytest.mark.parametrize(
    "typed", ["", "12345", "1234567", "é", "١٢٣٤٥٦", "abcdef", "\udcff", "0" * 99]
)
def test_what_is_no_code_is_none(typed: str) -> None:
    assert codes.matching_step(RFC, typed, NOW, 0) is None


def test_an_authenticator_is_told_all_that_it_needs() -> None:
    secret = codes.new_secret()
    assert len(secret) == 20
    parts = urlsplit(codes.address_of(secret, "alice", "example.com"))
    assert (parts.scheme, parts.netloc) == ("otpauth", "totp")
    assert unquote(parts.path) == "/Gatepost:alice@example.com"
    said = parse_qs(parts.query)
    assert said["issuer"] == ["Gatepost"]
    assert b32decode(said["secret"][0]) == secret
    assert b32decode(codes.key_in_words(secret).replace("-", "")) == secret


def test_recovery_codes_are_many_long_and_somebodys() -> None:
    made = codes.new_recovery_codes()
    assert len(set(made)) == codes.RECOVERY_CODES == 10
    digest = codes.recovery_digest(b"a" * 16, made[0])
    for typed in (made[0].lower(), made[0].replace("-", ""), f" {made[0].replace('-', ' ')} "):
        assert codes.recovery_digest(b"a" * 16, typed) == digest
    assert codes.recovery_digest(b"b" * 16, made[0]) != digest
    assert codes.recovery_digest(b"a" * 16, made[1]) != digest
    assert all(len(one.replace("-", "")) * 5 >= 80 for one in made), "bits"


def test_half_a_minute_is_half_a_minute() -> None:
    assert codes.step_at(NOW + timedelta(seconds=20)) == HERE + 1
