"""Why somebody does it is kept as it was written, and never with a number."""

import pytest

from gatepost.errors import Invalid
from main_server.reasons import checked_words, demanded_words, holds_number


@pytest.mark.parametrize(
    "words",
    [
        *("", " by ticket 4711-2026111812 ", "+4 of them", "x" * 500, "case 0815-4711"),
        *("since 2026-11-19 15:06:38 all fail", "from 01.02.2026 10:15 to 03/04/2026 on"),
        *("01a1ee53-ca31-7116-bf56-e42fba72bdee", "at 192.168.100.200 and :8001"),
        *("serial 00491701234567aabbccddeeff001122", "2,000,000 messages and 100 more"),
    ],
)
def test_it_is_kept_as_it_was_written(words: str) -> None:
    assert checked_words(words) == words.strip()


@pytest.mark.parametrize(
    "words",
    [
        *("call +491701234567", "of +49 (170) 123-45.67 he said", "+ 49 - 170 - 1234567"),
        *("0049 155 1234567", "(0049)1551234567", "00 49/155/12 34 567", "0049-155-123 45 67"),
        *("0155 1234567", "(0155) 12 34 567", "0155/1234567", "020 7946 0958"),
        *("49 155 1234567", "491551234567", "４９１５５１２３４５６７", "٠٠٤٩١٥٥١٢٣٤٥٦٧"),
        *("+49\u00a0155\u202f123\u20114567", "004\u200b91551234567", "＋４９ 155 1234567"),
        *("0049_155_1234567", "+49.155.1234567", "+49 –155– 1234567", "+49·155·1234567"),
    ],
)
def test_a_number_is_refused_however_it_is_written(words: str) -> None:
    for text in (words, f"asked by {words}, yes", f"{words}."):
        with pytest.raises(Invalid) as refused:
            checked_words(text)
        assert "leave the number out" in str(refused.value.errors)
        assert "155" not in str(refused.value.errors)


def test_it_is_no_novel_and_has_to_be_said() -> None:
    for words in ("x" * 501, "  "):
        with pytest.raises(Invalid):
            demanded_words(words)
    assert demanded_words(" why ") == "why"


def test_what_the_audit_log_names_is_no_number() -> None:
    for name in ("00" * 16, "0049155123456789" * 2, "example.com:partner-1", "alice@example.com"):
        assert not holds_number(name)
