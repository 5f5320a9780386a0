"""The documents as the tests read them: their code spans, fenced blocks and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from infra.dev.paths import ROOT

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
_INDENTED = re.compile(r"^    ((?:\./dev|gatepost) .+)$", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    language: str
    text: str


class Document:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.name = str(file.relative_to(ROOT))
        self.text = file.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        return _FENCE.sub("", self.text)

    @cached_property
    def spans(self) -> list[str]:
        return _SPAN.findall(self.prose)

    @cached_property
    def links(self) -> list[str]:
        return _LINK.findall(self.prose)

    @cached_property
    def blocks(self) -> list[Block]:
        return [Block(*found) for found in _FENCE.findall(self.text)]

    @cached_property
    def anchors(self) -> set[str]:
        """The headings as links name them."""
        return {
            re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in _HEADING.findall(self.prose)
        }

    def commands(self) -> Iterator[str]:
        """What a reader is to type: in `sh` every line, in `console` what follows a prompt.

        And our own commands where they stand indented.
        """
        yield from _INDENTED.findall(self.prose)
        for block in self.blocks:
            for line in block.text.splitlines():
                if block.language == "console" and line.startswith("$ "):
                    yield line.removeprefix("$ ")
                elif block.language == "sh" and line.strip():
                    yield line


def read_documents() -> list[Document]:
    return [
        Document(file) for file in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")))
    ]
