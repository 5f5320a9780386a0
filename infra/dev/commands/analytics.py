"""`./dev analytics run|status|rebuild …`: `gatepost analytics` with the settings of this checkout's
stack, and with the Java and the driver that it needs, unpacked if the machine has none.
"""

import os
import sys

from infra.dev.jvm import find_driver, find_java
from infra.dev.paths import VAR, VENV
from infra.dev.place import Place
from infra.dev.steps import Failure, give_up

STARTS_SPARK = {"run", "rebuild"}


def main(arguments: list[str]) -> None:
    place = Place(VAR)
    if place.supervisor() is None:
        raise Failure("The stack does not run, and with it the ledger: ./dev up")
    environment = dict(os.environ)
    if STARTS_SPARK & set(arguments):
        find_driver()
        environment["JAVA_HOME"] = str(find_java())
    config = ["--config", str(place.config / "analytics.yaml")] if arguments else []
    command = [str(VENV / "bin" / "gatepost"), "analytics", *arguments, *config]
    sys.stdout.flush()
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as failure:
        give_up(failure)
