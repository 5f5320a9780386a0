"""`./dev test`: lint, then all tests; arguments go to pytest, which has the last word."""

import os
import subprocess
import sys

from infra.dev.chromium import find_chromium
from infra.dev.commands.lint import lint
from infra.dev.engines import find_engines
from infra.dev.jvm import find_driver, find_java
from infra.dev.paths import ROOT, VENV
from infra.dev.steps import Failure, give_up

PYTEST = [str(VENV / "bin" / "pytest"), "--numprocesses=2", "--dist=worksteal"]


def main(arguments: list[str]) -> int:
    # Where it is set, each of the hundreds of processes that tests start compiles all of our code.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    engines = find_engines()

    def fetch() -> None:
        engines.fetch()
        find_chromium()
        find_java()
        find_driver()

    clean = lint(meanwhile=fetch)
    if not clean:
        print("That fails this run; the tests follow all the same.\n")
    print(f"Tests, with {engines.redis}, {engines.mariadb} and {find_chromium()}", flush=True)
    code = subprocess.run([*PYTEST, *arguments], check=False, cwd=ROOT).returncode
    return code or (0 if clean else 1)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
