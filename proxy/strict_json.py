"""JSON as the boundary takes it: one reading of a document, or a refusal.

Duplicate keys, NaN, lone surrogates and deep nesting are where two readers of one document come to
differ; each is refused with its reason. The standard library's parser with a hook for pairs is as
fast as the ones that let duplicates pass.

Nothing is read that has more to it than a message can have: what a document costs follows from its
length, at most a millisecond or two for 16 KiB of the worst. What is longer is read in pieces of
that size, and who reads it has others take a turn in between.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from gatepost.errors import Malformed

MAX_DEPTH = 16
MAX_PARTS = 128
"""Fields, elements, objects and arrays of a document, counted together: a message has a dozen."""

WINDOW_BYTES = 64 * 1024
"""So much of a long body is decoded at a time."""

# A string that has no end takes all that follows: to look for its end from each of its quotes again
# would cost the square of its length.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_MARK = re.compile(r"[\[\]{},]")
_SPACE = re.compile(r"[ \t\r\n]*")


def parse(body: bytes) -> Any:
    text = _decode(body)
    _check_parts(text)
    document, end = _read(text)
    if end != len(text) and _after_space(text, end, len(text)) != len(text):
        raise Malformed(f"The body is not JSON: something follows it, at character {end}.")
    return document


def read_array(body: bytes, *, longest: int) -> Iterator[Any] | None:
    """The elements of an array, each read when it is asked for; None if it is another document.

    An element longer than `longest` characters can't be read, nor so much white space before it.
    So a step costs no more than a document of that length, however long the body is.
    """
    text = _Text(body, longest)
    text.skip_space()
    if not text.begins("["):
        _read(text.slice())  # a document all the same, or not even that
        return None
    return _elements(text)


def _elements(text: "_Text") -> Iterator[Any]:
    text.expect("[")
    text.skip_space()
    first = True
    while not text.begins("]"):
        if not first:
            text.expect(",")
            text.skip_space()
        yield text.read()
        first = False
        text.skip_space()
    text.expect("]")
    text.skip_space()
    if not text.over:
        raise Malformed(f"The body is not JSON: something follows it, at character {text.place}.")


class _Text:
    """A body as characters, of which there is a window: to decode 16 MiB takes too long at once."""

    def __init__(self, body: bytes, longest: int) -> None:
        self._body = body
        self._longest = longest
        self._decoded = self._passed = 0
        """Bytes that are decoded, and characters that were before the window."""
        self._window, self._at = "", 0
        self._fill()
        _refuse_mark(self._window)

    @property
    def place(self) -> int:
        return self._passed + self._at

    @property
    def over(self) -> bool:
        return self._at == len(self._window)

    def begins(self, character: str) -> bool:
        return self._window.startswith(character, self._at)

    def expect(self, character: str) -> None:
        if not self.begins(character):
            what = f"'{character}' is missing, at character {self.place}"
            raise Malformed(f"The body is not JSON: {what}.")
        self._at += 1

    def skip_space(self) -> None:
        most = self._at + self._longest
        self._at = _after_space(self._window, self._at, most)
        if self._at == most:
            raise Malformed(f"There is nothing but white space, up to character {self.place}.")
        if len(self._window) - self._at <= self._longest:
            self._fill()

    def slice(self) -> str:
        """What an element may be in, which begins here."""
        return self._window[self._at : self._at + self._longest]

    def read(self) -> Any:
        text = self.slice()
        element, length = _read(text, self.place)
        _check_parts(text[:length])
        self._at += length
        if len(self._window) - self._at <= self._longest:
            self._fill()
        return element

    def _fill(self) -> None:
        """More than an element may have is ahead at each step, as long as there is so much."""
        while len(self._window) - self._at <= self._longest and self._decoded < len(self._body):
            piece = self._body[self._decoded : self._decoded + WINDOW_BYTES]
            last = self._decoded + len(piece) == len(self._body)
            try:
                more, length = codecs.utf_8_decode(piece, "strict", last)
            except UnicodeDecodeError as error:
                raise _not_utf8(self._decoded + error.start) from None
            self._decoded += length
            self._passed += self._at
            self._window, self._at = self._window[self._at :] + more, 0


def _decode(body: bytes) -> str:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(error.start) from None
    _refuse_mark(text)
    return text


def _not_utf8(place: int) -> Malformed:
    return Malformed(f"The body is not UTF-8, at byte {place}.")


def _refuse_mark(text: str) -> None:
    if text.startswith("\ufeff"):
        raise Malformed("The body begins with a byte order mark; send it without.")


def _read(text: str, offset: int = 0) -> tuple[Any, int]:
    """The first value of a text, and where it ends; `offset` is where the text stands itself."""
    at = 0 if text.startswith("{") else _after_space(text, 0, len(text))
    try:
        document, end = _decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        place = f"character {offset + error.pos}"
        raise Malformed(f"The body is not JSON: {error.msg}, at {place}.") from None
    except ValueError:  # an integer with more digits than Python converts
        raise Malformed("A number in the document is too long.") from None
    except RecursionError:
        raise _too_deep() from None
    if text.find("\\u", 0, end) >= 0:
        _refuse_surrogates(document)
    return document, end


def _check_parts(text: str) -> None:
    """Raises Malformed if there is more to a document than there may be. It need not be one."""
    opened = text.count("[") + text.count("{")
    if opened <= MAX_DEPTH and opened + text.count(",") <= MAX_PARTS:
        return
    depth = parts = 0
    for mark in _MARK.finditer(_STRING.sub("", text)):
        if mark[0] in "]}":
            depth -= 1
        else:
            parts += 1
            depth += mark[0] != ","
        if depth > MAX_DEPTH:
            raise _too_deep()
        if parts > MAX_PARTS:
            raise Malformed(f"The document has more than {MAX_PARTS} parts.")
        if depth < 0:
            return  # the parser says where


def _too_deep() -> Malformed:
    return Malformed(f"The document is nested deeper than {MAX_DEPTH} levels.")


def _after_space(text: str, at: int, most: int) -> int:
    match = _SPACE.match(text, at, most)
    assert match is not None
    return match.end()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise Malformed("A name stands twice in the same object.")
    return document


def _constant(_name: str) -> NoReturn:
    raise Malformed("NaN and Infinity are not JSON.")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def _refuse_surrogates(value: Any) -> None:
    """Escapes can spell half of a pair, which no UTF-8 can carry on."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Malformed("A string holds half of a surrogate pair.") from None
    elif isinstance(value, dict):
        for name, inner in value.items():
            _refuse_surrogates(name)
            _refuse_surrogates(inner)
    elif isinstance(value, list):
        for inner in value:
            _refuse_surrogates(inner)
