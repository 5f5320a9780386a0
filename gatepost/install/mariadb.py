"""Has the distribution's MariaDB run with our settings, and brings statements to it.

Root comes by the socket, and statements by standard input: no password is an argument.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from gatepost.install.machine import Machine, has
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, Step

SETTINGS = "/etc/mysql/mariadb.conf.d/90-gatepost.cnf"
RENAMED = {"default_time_zone": "time_zone", "transaction_isolation": "tx_isolation"}
"""The server's names of settings that are called otherwise in its file."""
SAFETY = frozenset(
    {
        "innodb_flush_log_at_trx_commit",
        "innodb_doublewrite",
        "local_infile",
        "general_log",
        "slow_query_log",
    }
)
"""The settings that must be as in our file, whatever other files say; `main_server.store.checks`
asks for most of them again. All else is the operator's to change in a file of their own."""


def settings(machine: Machine, release: Release) -> Step:
    content = release.read("my.cnf")
    file = machine.path(SETTINGS)

    def apply() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not has(file, content):
            machine.write(file, content, 0o644)
        if machine.live:
            machine.run("systemctl", "restart", "mariadb.service")
            _refuse_unsafe(machine, content.decode())

    return Step(
        f"{SETTINGS}: MariaDB runs with this release's settings (it is restarted for them)",
        lambda: has(file, content) and (not machine.live or _took_up(machine, file)),
        apply,
    )


def sql(machine: Machine, statements: str, *options: str) -> str:
    try:
        return machine.run("mariadb", "--batch", "--skip-column-names", *options, text=statements)
    except Failure as failure:
        hint = "Does it run? systemctl status mariadb. Root must get in by its socket."
        raise Failure(f"MariaDB refuses: {failure}\n  {hint}") from None


def _took_up(machine: Machine, file: Path) -> bool:
    """Return whether MariaDB was started after the file was last changed, or does what the file
    says all the same. The settings that keep messages safe must be as it says, whatever other files
    there are."""
    try:
        said = sql(machine, "SHOW GLOBAL VARIABLES; SHOW GLOBAL STATUS LIKE 'Uptime';")
    except Failure:
        return False
    found = _pairs(said)
    others = set(_differing(found, file.read_text()))
    started = time.time() - int(found.get("Uptime", 0)) + 1  # it counts whole seconds
    return not others & SAFETY and (not others or started > file.stat().st_mtime)


def _refuse_unsafe(machine: Machine, wanted: str) -> None:
    found = _pairs(sql(machine, "SHOW GLOBAL VARIABLES;"))
    others = _differing(found, wanted)
    if unsafe := sorted(SAFETY & others.keys()):
        words = ", ".join(f"{n} = {found.get(n)} instead of {others[n]}" for n in unsafe)
        raise Failure(
            f"MariaDB runs with {words}: another file says so.\n"
            "  It would lose or leak what it is given. Which file: mariadbd --print-defaults,"
            " and grep -r below /etc/mysql"
        )


def _pairs(said: str) -> dict[str, str]:
    return dict(line.split("\t", 1) for line in said.splitlines() if "\t" in line)


def _differing(found: Mapping[str, str], wanted: str) -> dict[str, str]:
    """Return the settings that the file sets and the server has otherwise."""
    return {name: one for name, one in assignments(wanted) if not _same(found.get(name), one)}


def assignments(wanted: str) -> Iterator[tuple[str, str]]:
    """Yield the settings that a file makes, under the server's own names."""
    for line in wanted.splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = (part.strip() for part in line.split("=", 1))
            name = name.replace("-", "_")
            yield RENAMED.get(name, name), value.strip("'")


def _same(found: str | None, wanted: str) -> bool:
    switches = {"1": "ON", "0": "OFF"}
    parts = [
        {switches.get(p, p).upper() for p in (text or "").split(",")} for text in (found, wanted)
    ]
    return parts[0] == parts[1]
