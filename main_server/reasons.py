"""The words in which somebody says why, which the audit log keeps for good: no number may be in
them (I6), however it is written."""

import re
import unicodedata

from gatepost.errors import FieldError, Invalid

MOST_WORDS = 500
WHY = "say why: it is kept in the audit log"
_BETWEEN = r"[ ()/._-]{0,3}"
_DIGITS = rf"(?:{_BETWEEN}[0-9])"
_NUMBERS = (
    re.compile(rf"\+{_BETWEEN}[1-9]{_DIGITS}{{5}}"),
    re.compile(rf"(?<![0-9a-z])00{_BETWEEN}[1-9]{_DIGITS}{{5,13}}(?![0-9a-z])"),
    re.compile(rf"(?<![0-9a-z])\(?0{_BETWEEN}[1-9]{_DIGITS}{{7,12}}(?![0-9a-z])"),
    re.compile(r"(?<![0-9a-z])[1-9](?:[ ()/]{0,3}[0-9]){10,14}(?![0-9a-z])"),
)
"""Numbers with a plus, with two zeros, with the one zero of a country; with none of them, where
neither dot nor dash is between the digits: tickets and addresses of machines have those."""
_NO_NUMBERS = (
    re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9]{1,2}:[0-9]{2})?"),
    re.compile(r"\b[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2,4}\b(?: [0-9]{1,2}:[0-9]{2})?"),
)
"""Ids, and days with or without a time, which have as many digits."""


def checked_words(text: str, pointer: str = "/reason") -> str:
    """Check somebody's words, which may be empty; raise Invalid if they can't be kept.
    `demanded_words` wants something."""
    words = text.strip()
    if len(words) > MOST_WORDS:
        raise Invalid(errors=[FieldError(pointer, f"is longer than {MOST_WORDS} characters")])
    if holds_number(words):
        said = "leave the number out: what is written here is kept for good"
        raise Invalid(errors=[FieldError(pointer, said)])
    return words


def demanded_words(text: str, pointer: str = "/reason") -> str:
    words = checked_words(text, pointer)
    if not words:
        raise Invalid(errors=[FieldError(pointer, WHY)])
    return words


def holds_number(text: str) -> bool:
    """Tell whether somebody's number may be in a text. Rather once too often: whoever is refused
    says it in other words."""
    plain = "".join(map(_plain, unicodedata.normalize("NFKC", text))).lower()
    for one in _NO_NUMBERS:
        plain = one.sub(" x ", plain)
    return any(one.search(plain) for one in _NUMBERS)


def _plain(character: str) -> str:
    """Return any digit, dash, space or plus as ASCII has it, and nothing of what isn't seen."""
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    kind = unicodedata.category(character)
    if kind == "Cf":
        return ""
    if kind in ("Zs", "Cc"):
        return " "
    return "-" if kind == "Pd" or character in "−·•∙‧" else character
