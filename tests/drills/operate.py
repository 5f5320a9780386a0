"""`./dev drill operate [PART …]`: what operators do, on machines and stores of its own, at length.

Each part is a module of tests/drills/operating with `play(say, asked)`, which returns what went
wrong, in words; `asked` has `write` (the figures go into the documents) and `scale` (of what is
large, to try it out). All are played unless some are named; one that fails doesn't hold up the
others.
"""

import argparse
import sys
import time
from importlib import import_module

from infra.dev.options import drill


def play(part: str, asked: argparse.Namespace) -> list[str]:
    print(f"{part}:", flush=True)
    begun = time.monotonic()
    try:
        wrong: list[str] = import_module(f"tests.drills.operating.{part}").play(_say, asked)
    except Exception as error:
        wrong = [f"{type(error).__name__}: {error}"]
    for words in wrong:
        _say(f"WRONG: {words}")
    how = "not as it should be" if wrong else "all as it should be"
    _say(f"{how}, after {time.monotonic() - begun:.0f} s")
    return [f"{part}: {words}" for words in wrong]


def _say(words: str) -> None:
    print(f"  {words}", flush=True)


def main() -> None:
    asked = drill.operate().parse_args()
    if wrong := [words for part in asked.part or drill.PARTS for words in play(part, asked)]:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
