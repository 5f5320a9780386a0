"""Read a long array an element at a time, so that others can take a turn in between.

Only a window of the body is held as characters: to decode all of it at once, or to look through all
of it for anything, would take longer than others can wait.
"""

import codecs
from collections.abc import Iterator
from typing import Any

from gatepost.errors import Malformed
from proxy.strict_json import after_space, check_parts, not_utf8, read_value, refuse_mark

WINDOW_BYTES = 64 * 1024
"""The bytes of a body that are decoded at a time."""


def read_array(body: bytes, *, longest: int) -> Iterator[Any] | None:
    """Return the elements of an array, each read when it is asked for; None if it is another
    document.

    An element longer than `longest` characters can't be read, nor so much white space before it.
    So a step costs no more than a document of that length, however long the body is.
    """
    text = _Text(body, longest)
    text.skip_space()
    if not text.begins("["):
        read_value(text.slice())  # a document all the same, or not even that
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
    """A body as characters, of which only a window is held: to decode 16 MiB takes too long at
    once."""

    def __init__(self, body: bytes, longest: int) -> None:
        self._body = body
        self._longest = longest
        self._decoded = self._passed = 0
        """The bytes that are decoded, and the characters that were before the window."""
        self._window, self._at = "", 0
        self._fill()
        refuse_mark(self._window)

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
        self._at = after_space(self._window, self._at, most)
        if self._at == most:
            raise Malformed(f"There is nothing but white space, up to character {self.place}.")
        if len(self._window) - self._at <= self._longest:
            self._fill()

    def slice(self) -> str:
        """Return the text in which an element that begins here must end."""
        return self._window[self._at : self._at + self._longest]

    def read(self) -> Any:
        text = self.slice()
        element, length = read_value(text, self.place)
        check_parts(text[:length])
        self._at += length
        if len(self._window) - self._at <= self._longest:
            self._fill()
        return element

    def _fill(self) -> None:
        """Fill the window: more than an element may have is ahead at each step, as long as there is
        so much."""
        while len(self._window) - self._at <= self._longest and self._decoded < len(self._body):
            piece = self._body[self._decoded : self._decoded + WINDOW_BYTES]
            last = self._decoded + len(piece) == len(self._body)
            try:
                more, length = codecs.utf_8_decode(piece, "strict", last)
            except UnicodeDecodeError as error:
                raise not_utf8(self._decoded + error.start) from None
            self._decoded += length
            self._passed += self._at
            self._window, self._at = self._window[self._at :] + more, 0
