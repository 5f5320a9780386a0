"""`./dev lint`: every check that needs nothing to run; all of them, then what they found."""

import sys

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


def lint() -> bool:
    """Whether all is well."""
    print("Lint", flush=True)
    failures = []
    for name, command in CHECKS.items():
        try:
            with step(name):
                run(name, [str(VENV / "bin" / command[0]), *command[1:]], folder=ROOT, lines=None)
        except Failure as failure:
            failures.append(f"\n{failure}")
    print(*failures, sep="\n", flush=True)
    return not failures


if __name__ == "__main__":
    sys.exit(0 if lint() else 1)
