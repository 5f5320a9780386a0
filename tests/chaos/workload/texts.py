"""What clients post: good messages with a marker of their own, and all kinds of wrong ones."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.chaos.digests import Digests
from tests.chaos.history import Item


@dataclass(frozen=True, slots=True)
class Text:
    """A message and its item in the history. The same text is repeated under the same key."""

    item: Item
    body: bytes
    """As a post of its own."""

    def in_batch(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document | ({"idempotency_key": self.item.key} if self.item.key else {})


class Texts:
    """No two of a run have the same marker: `name` is the client process's alone."""

    def __init__(self, name: str, dice: random.Random, digests: Digests) -> None:
        self._name = name
        self._dice = dice
        self._digests = digests
        self._count = 0

    def good(self, *, keyed: bool = False) -> Text:
        marker = self._marker()
        key = f"key-{marker}" if keyed else None
        document = self._document(marker)
        said = document["sender_number"], document["message_body"]
        digests = self._digests.of(*said), self._digests.shown(*said)
        return Text(Item(marker, key, digest=digests[0], shown=digests[1]), _encode(document))

    def wrong(self) -> Text:
        """In a batch as well as alone."""
        marker = self._marker()
        document = self._dice.choice(_WRONG)(self._document(marker))
        return Text(Item(marker, expect="refuse"), _encode(document))

    def garbage(self) -> Text:
        """Not even JSON; only as a post of its own."""
        marker = self._marker()
        return Text(Item(marker, expect="refuse"), _encode(self._document(marker))[:-9])

    def _marker(self) -> str:
        self._count += 1
        return f"{self._name}-{self._count}"

    def _document(self, marker: str) -> dict[str, Any]:
        filler = "x" * self._dice.choice((0, 40, 120, 900))
        number = f"+1{self._dice.randrange(10**9, 10**10)}"
        return {"sender_number": number, "message_body": f"{marker} {filler}"}


_WRONG: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = (
    lambda good: good | {"message_body": "   "},
    lambda good: good | {"message_body": good["message_body"] + "y" * 1000},
    lambda good: good | {"message_body": good["message_body"] + "\0"},
    lambda good: good | {"sender_number": "0123"},
    lambda good: good | {"recipient": "nobody"},
    lambda good: {"message_body": good["message_body"]},
    lambda good: good | {"metadata": {"client_id": "example.com:somebody_else"}},
)


def _encode(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()
