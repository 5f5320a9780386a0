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

from infra.dev.commands.drill import FOLDER

PARTS = sorted(file.stem for file in (FOLDER / "operating").glob("[a-z]*.py"))


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
    parser = argparse.ArgumentParser(prog="./dev drill operate")
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--write", action="store_true", help="write figures into the documents")
    parser.add_argument("--scale", type=float, default=1.0, help="of what is large, to try it out")
    asked = parser.parse_args()
    if unknown := sorted(set(asked.part) - set(PARTS)):
        parser.error(f"there is no part {', '.join(unknown)}, but {', '.join(PARTS)}")
    if wrong := [words for part in asked.part or PARTS for words in play(part, asked)]:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
