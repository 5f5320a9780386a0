"""Makes our schemas and users in MariaDB, with the tables and the rights.

Whether the users are right is read from the server itself, by what it grants them.
"""

import hashlib
import re
from dataclasses import dataclass

from gatepost.install.configuration import DATABASE_PASSWORDS, ETC, password
from gatepost.install.machine import Machine, has
from gatepost.install.mariadb import sql
from gatepost.install.placing import place
from gatepost.install.shipped import Release, fill
from gatepost.install.steps import Failure, Step

MIGRATION = f"{ETC}/migration/config.yaml"
HOST = "127.0.0.1"
GRANTED = {
    "reader": "gatepost_lake",
    "publisher": "gatepost_analytics",
    "backup": "gatepost_backup",
    "retention": "gatepost_retention",
}
"""The user of each part, by what `gatepost db grant` calls the part."""
MARK = "granted"
_GRANT = re.compile(
    r"GRANT (?P<rights>.+?) ON (?P<what>\S+) TO (?P<who>[^\s;]+)"
    r"(?: IDENTIFIED BY PASSWORD '(?P<hash>[^']*)')?(?P<option> WITH GRANT OPTION)?;?"
)


@dataclass(frozen=True)
class Right:
    who: str
    what: str
    rights: frozenset[str]
    may_grant: bool

    def is_within(self, other: "Right") -> bool:
        same = (self.who, self.what) == (other.who, other.what)
        return same and self.rights <= other.rights and self.may_grant <= other.may_grant


def accounts(machine: Machine, release: Release) -> Step:
    template = release.read("accounts.sql").decode()

    def statements() -> str:
        passwords = {u: password(machine, name) for u, name in DATABASE_PASSWORDS.items()}
        return fill(template, passwords)

    return Step(
        f"{len(DATABASE_PASSWORDS)} users of MariaDB from {HOST} with their rights, and schemas",
        lambda: _are_there(machine, template),
        lambda: sql(machine, statements()),
    )


def tables(machine: Machine, release: Release) -> list[Step]:
    """Return the steps that bring the tables to the release's version, and give the users of the
    nightly work their rights in them."""
    gatepost, config = f"{place(release)}/bin/gatepost", ("--config", MIGRATION)
    mark = machine.path(place(release)) / MARK

    def grant() -> None:
        for part, user in GRANTED.items():
            machine.run(gatepost, "db", "grant", part, f"{user}@{HOST}", *config)
        machine.write(mark, _schema(machine, release).encode(), 0o644)

    return [
        Step(
            f"the ledger's tables are of release {release.version}",
            lambda: are_current(machine, place(release)),
            lambda: machine.run(gatepost, "db", "upgrade", *config),
        ),
        Step(
            f"rights in those tables for {', '.join(GRANTED.values())}",
            lambda: (
                are_current(machine, place(release))
                and has(mark, _schema(machine, release).encode())
            ),
            grant,
        ),
    ]


def are_current(machine: Machine, release: str) -> bool:
    """Return whether the tables are those of the release in that folder."""
    gatepost = f"{release}/bin/gatepost"
    if not (machine.path(gatepost).exists() and machine.path(MIGRATION).exists()):
        return False
    return machine.call(gatepost, "db", "current", "--config", MIGRATION).returncode == 0


def _schema(machine: Machine, release: Release) -> str:
    gatepost = f"{place(release)}/bin/gatepost"
    return machine.run(gatepost, "db", "current", "--config", MIGRATION)


def _are_there(machine: Machine, template: str) -> bool:
    """Return whether schemas and users are there, by the server's own word: who has which password,
    as its hash, and which rights."""
    try:
        wanted = {u: _hash(password(machine, name)) for u, name in DATABASE_PASSWORDS.items()}
        questions = "".join(f"SHOW GRANTS FOR {user}@{HOST};\n" for user in wanted)
        said = sql(machine, "SHOW DATABASES;\n" + questions, "--force")
    except (Failure, OSError):
        return False
    lines = said.splitlines()
    granted = [match for line in lines if (match := _GRANT.match(_plain(line)))]
    hashes = {m["who"].split("@")[0]: m["hash"] for m in granted if m["hash"]}
    had = [_right(match) for match in granted]
    needed = [_right(match) for line in template.splitlines() if (match := _GRANT.match(line))]
    schemas = set(re.findall(r"^CREATE SCHEMA IF NOT EXISTS (\S+)", template, re.MULTILINE))
    return (
        schemas <= set(lines)
        and hashes == wanted
        and all(any(one.is_within(other) for other in had) for one in needed)
    )


def _right(match: "re.Match[str]") -> Right:
    rights = match["rights"].replace("ALL PRIVILEGES", "ALL").split(", ")
    return Right(match["who"], match["what"], frozenset(rights), bool(match["option"]))


def _plain(line: str) -> str:
    return line.replace("`", "")


def _hash(password_: str) -> str:
    """Return the hash that mysql_native_password keeps: the server chooses it, not we."""
    inner = hashlib.sha1(password_.encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(inner, usedforsecurity=False).hexdigest().upper()
