"""`./dev test`: runs lint, then all tests; arguments go to pytest, which has the last word."""

import os
import subprocess
import sys
from collections.abc import Sequence

from infra.dev.chromium import find_chromium
from infra.dev.client_makers import find_python_maker
from infra.dev.commands.lint import lint
from infra.dev.engines import find_engines
from infra.dev.jvm import find_driver, find_java
from infra.dev.node import find_node, install_packages
from infra.dev.options.checks import parse_test
from infra.dev.paths import ROOT, VENV
from infra.dev.steps import Failure, give_up

PYTEST = [str(VENV / "bin" / "pytest"), "--numprocesses=2", "--dist=worksteal"]
PURE = ROOT / "tests" / "unit"
"""Tests that need no server, no browser and no Java."""


def main(arguments: list[str]) -> int:
    # If this is set, each of the hundreds of processes that tests start compiles all of our code.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    asked, for_pytest = parse_test(arguments)
    if refused := _refused(for_pytest):
        return refused
    pure = is_pure(for_pytest)
    meanwhile = _nothing if pure else _fetch
    if asked.no_lint:
        clean = True
        meanwhile()
    else:
        clean = lint(meanwhile)
    if not clean:
        print("That fails this run; the tests follow all the same.\n")
    print("Tests" if pure else f"Tests, with {_versions()}", flush=True)
    code = subprocess.run([*PYTEST, *for_pytest], check=False, cwd=ROOT).returncode
    return code or (0 if clean else 1)


def is_pure(arguments: Sequence[str]) -> bool:
    """Return whether only tests are named that need nothing to be fetched."""
    named = [ROOT / word.partition("::")[0] for word in arguments if not word.startswith("-")]
    paths = [path.resolve() for path in named if path.exists()]
    return bool(paths) and all(path.is_relative_to(PURE) for path in paths)


def _refused(arguments: Sequence[str]) -> int:
    """Return pytest's exit code, after its words, where it doesn't know an option; else 0."""
    command = [PYTEST[0], *arguments, "--markers"]
    said = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    if said.returncode:
        print(said.stderr.strip(), file=sys.stderr)
    return said.returncode


def _fetch() -> None:
    """Unpack what the tests need and this machine has not, beside the lint."""
    find_engines().fetch()
    find_chromium()
    find_java()
    find_driver()
    find_python_maker()
    install_packages(find_node())


def _nothing() -> None:
    """Fetch nothing."""


def _versions() -> str:
    engines = find_engines()
    return f"{engines.redis}, {engines.mariadb} and {find_chromium()}"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
