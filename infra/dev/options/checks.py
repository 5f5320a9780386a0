"""The options of the commands that test, lint, build and write."""

import argparse
import random
from collections.abc import Sequence


def test() -> argparse.ArgumentParser:
    """Return the parser of our own options; parse_test leaves all others to pytest."""
    words = (
        "Lint, then run all tests. All other arguments go to pytest, which refuses what it doesn't"
        " know before anything is linted; `var/venv/bin/pytest --help` tells them."
    )
    parser = argparse.ArgumentParser(
        prog="./dev test",
        usage="%(prog)s [--no-lint] [PATH …] [OPTION OF PYTEST …]",
        description=words,
        allow_abbrev=False,
    )
    parser.add_argument("--no-lint", action="store_true", help="run the tests alone")
    return parser


def parse_test(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return what is meant for us, and what is meant for pytest."""
    return test().parse_known_args(arguments)


def lint() -> argparse.ArgumentParser:
    words = "Run every check that needs nothing to run: ruff, mypy, import-linter, shellcheck."
    return argparse.ArgumentParser(prog="./dev lint", description=words)


def docs() -> argparse.ArgumentParser:
    words = "Make the documents a site, in var/docs. A link that leads nowhere fails it."
    parser = argparse.ArgumentParser(prog="./dev docs", description=words)
    parser.add_argument(
        "--write", action="store_true", help="before that, write the pages that programs write"
    )
    return parser


def build() -> argparse.ArgumentParser:
    words = "Build two wheels into dist/: the release, for `gatepost install`, and the client."
    return argparse.ArgumentParser(prog="./dev build", description=words)


def lock() -> argparse.ArgumentParser:
    words = "Write locks/ from pyproject.toml. What is pinned stays where it still fits."
    parser = argparse.ArgumentParser(prog="./dev lock", description=words, allow_abbrev=False)
    parser.add_argument("--upgrade", action="store_true", help="choose all versions anew")
    parser.add_argument(
        "--upgrade-package",
        action="append",
        default=[],
        metavar="NAME",
        help="choose this one's version anew; can be said several times",
    )
    return parser


def hostile() -> argparse.ArgumentParser:
    words = "Send everything hostile that we know of to a stack of its own, and to its readers."
    parser = argparse.ArgumentParser(prog="./dev hostile", description=words)
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1, 100_000), help="else a random one"
    )
    parser.add_argument("--inputs", type=int, default=280_000, help="how many (280,000)")
    parser.add_argument("--write", action="store_true", help="write it into docs/security.md")
    return parser
