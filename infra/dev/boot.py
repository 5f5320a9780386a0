"""The entry of `./dev`: makes the environment that a command needs, then becomes that command.

Standard library only, for it runs before anything is installed. An environment that is fresh (the
stamp in it names the lock, the project file and the folder it was made from) is left alone. Help is
given, and an option that there isn't is refused, before that.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import NoReturn

from infra.dev import python
from infra.dev.options.commands import COMMANDS
from infra.dev.paths import BOOT, LOCKS, ROOT, VAR, VENV
from infra.dev.steps import Failure, give_up, step

# Each group holds all of the one before it.
GROUPS = ("server", "analytics", "test", "bench")
STAMP = VENV / "made-from.json"


def main(arguments: list[str]) -> NoReturn:
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help", "help"):
        print(usage())
        sys.exit(0 if arguments else 2)
    if name not in COMMANDS:
        print(f"dev: there is no command {name!r}\n\n{usage()}", file=sys.stderr)
        sys.exit(2)
    command = COMMANDS[name]
    command.check(arguments[1:])
    try:
        demand_own(VAR)
        interpreter = prepare(command.group)
    except Failure as failure:
        give_up(failure)
    sys.stdout.flush()
    os.execv(interpreter, [interpreter, "-m", command.module, *arguments[1:]])


def demand_own(folder: Path) -> None:
    """Refuse a folder that another user has made: it is theirs alone, and nothing of ours would
    work in it."""
    if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        owner = folder.stat().st_uid
        raise Failure(
            f"{folder} was made by another user (uid {owner}).\n"
            "Run ./dev as that user, or in a clone of your own."
        )


def usage() -> str:
    lines = [f"  ./dev {name:9} {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "Run, test and measure Gatepost. Everything it makes is below var/.\n",
            *lines,
            "\n`./dev COMMAND --help` tells a command's options.",
        ]
    )


def prepare(group: str | None) -> str:
    """Return the Python that has the group's packages, installed now if they aren't yet."""
    if group is None:
        return sys.executable
    make_var()
    with (VAR / "setup.lock").open("w") as lock:
        _wait_for(lock.fileno())
        if group == "boot":
            python.boot_environment()
            return str(BOOT / "bin" / "python")
        made_for, made_from = last_made()
        group = max(group, made_for, key=GROUPS.index)  # no command takes packages from another
        if made_from != digest(group) or not python.works(VENV):
            install(group)
    return str(VENV / "bin" / "python")


def make_var() -> None:
    """Make the folder of everything we make: it is ours, and nobody else may look into it.

    Root's can be passed through: MariaDB, which doesn't run as root, has its data in there.
    """
    VAR.mkdir(exist_ok=True)
    try:
        VAR.chmod(0o711 if os.geteuid() == 0 else 0o700)
    except PermissionError:
        raise Failure(f"{VAR} belongs to another user. Be that user, or remove it.") from None


def last_made() -> tuple[str, str]:
    """Return the group that the environment was made for, and the digest of what went into it."""
    try:
        made = json.loads(STAMP.read_text())
        return GROUPS[GROUPS.index(made["group"])], made["digest"]
    except (OSError, ValueError, KeyError):
        return GROUPS[0], "of nothing"


def digest(group: str) -> str:
    """Return the digest of all that the environment depends on, and its place (scripts name it)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    parts = [str(ROOT), (LOCKS / f"{group}.txt").read_text()]
    parts += [json.dumps(project[part]) for part in ("project", "build-system")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def install(group: str) -> None:
    print(f"Setting up in {VAR}", flush=True)
    STAMP.unlink(missing_ok=True)
    with step(f"Python {sys.version.split()[0]}, virtual environment"):
        if VENV.exists() and not python.belongs_here(VENV):
            shutil.rmtree(VENV)
        if not python.works(VENV):
            python.make_environment(VENV)
    installer = python.installer()
    lock = LOCKS / f"{group}.txt"
    count = sum(line[0].isalnum() for line in lock.read_text().splitlines())
    with step(f"{count} packages for `{group}`, by {installer.name}"):
        installer.sync(lock)
    with step("gatepost itself"):
        installer.install_project()
    STAMP.write_text(json.dumps({"group": group, "digest": digest(group)}))


def _wait_for(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another ./dev is setting up; waiting for it", flush=True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)


if __name__ == "__main__":
    main(sys.argv[1:])
