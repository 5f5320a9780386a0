"""`./dev lint`: runs every check that needs nothing to run, and then tells what they all found."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from infra.dev.options import checks
from infra.dev.paths import ROOT, VENV
from infra.dev.steps import Failure, run, step


def _scripts() -> list[str]:
    folders = (ROOT / "certs", ROOT / "main_server")
    return sorted(str(file) for folder in folders for file in folder.glob("*.sh"))


CHECKS = {
    "ruff check": ["ruff", "check", "--quiet", "--output-format=concise"],
    "ruff format": ["ruff", "format", "--check", "--quiet"],
    "mypy, strict": ["mypy", "--no-error-summary"],
    "import-linter": ["lint-imports"],
    "shellcheck": ["shellcheck", "dev", ".ci/run", *_scripts()],
}


SLOW = "mypy, strict"


def lint(meanwhile: Callable[[], object] = lambda: None) -> bool:
    """Run the checks; return whether all is well. mypy takes a minute of one processor where it has
    no cache: the other checks are made beside it, and so is what is to be done `meanwhile`."""
    print("Lint", flush=True)
    failures = []

    def note(name: str, check: Callable[[], object]) -> None:
        try:
            with step(name):
                check()
        except Failure as failure:
            failures.append(f"\n{failure}")

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(_check, SLOW)
        for name in (one for one in CHECKS if one != SLOW):
            note(name, partial(_check, name))
        meanwhile()
        note(SLOW, slow.result)
    print(*failures, sep="\n", flush=True)
    return not failures


def _check(name: str) -> None:
    program, *arguments = CHECKS[name]
    run(name, [str(VENV / "bin" / program), *arguments], folder=ROOT, lines=None)


if __name__ == "__main__":
    checks.lint().parse_args()
    sys.exit(0 if lint() else 1)
