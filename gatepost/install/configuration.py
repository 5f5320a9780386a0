"""Makes settings and secrets where they are missing, and never writes over what is there.

Afterwards it is the operator's. Only what is made of something else is made anew when that changes:
Redis's users (of its passwords) and the database's settings (of this release).
"""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from gatepost.install.machine import Machine, has, point
from gatepost.install.shipped import Release, fill
from gatepost.install.steps import Failure, Step

ETC, MASTER_KEY = "/etc/gatepost", "/etc/app_secrets/aes.key"
DATABASE_PASSWORDS = {
    "gatepost_main": "main_server/credentials/database.password",
    "gatepost_lake": "analytics/credentials/source.password",
    "gatepost_analytics": "analytics/credentials/database.password",
    "gatepost_backup": "backup/credentials/database.password",
    "gatepost_drill": "backup/credentials/drill.password",
    "gatepost_retention": "retention/credentials/database.password",
    "gatepost_migrate": "migration/credentials/database.password",
}
REDIS_PASSWORDS = {
    "gatepost_proxy": "proxy/credentials/redis.password",
    "gatepost_worker": "worker/credentials/redis.password",
    "gatepost_main": "main_server/credentials/redis.password",
    "operator": "redis/credentials/operator.password",
}
RESTORE_PASSWORD = "backup/credentials/restore.password"
"""The password of a restore, which works as the user who changes the tables: a link to that user's
password, which stays one."""
PASSPHRASE = "backup/credentials/store.passphrase_file"
USERS_ACL, REDIS_CONF = f"{ETC}/redis/users.acl", f"{ETC}/redis/redis.conf"
SAMPLES = {
    "main_server": ("main_server", "gatepost-main_server"),
    "proxy": ("proxy", "gatepost-proxy"),
    "worker": ("worker", "gatepost-worker"),
    "portal": ("portal", "gatepost-portal"),
    "analytics": ("analytics", "gatepost-analytics"),
    "retention": ("main_server.retention", "gatepost-main_server"),
    "backup": ("main_server.backup", "gatepost-main_server"),
    "migration": ("migrations", "root"),
}
"""The folders below /etc/gatepost, each with the package whose sample goes in, and the group that
reads it."""
_EXAMPLE = re.compile(r"\b(?:pki\.|portal\.)?gatepost\.example\b")


@dataclass(frozen=True)
class Kept:
    """A file that is made once, where it is missing."""

    file: str
    make: Callable[[], bytes]
    mode: int = 0o400
    group: str = "root"

    def step(self, machine: Machine, what: str) -> Step:
        place = machine.path(self.file)
        return Step(
            f"{self.file}: {what}",
            place.is_file,
            lambda: machine.write(place, self.make(), self.mode, "root", self.group),
        )


def steps(machine: Machine, release: Release, host: str, *, is_new: bool) -> list[Step]:
    """Return the steps that make settings and secrets. `is_new` means that nothing on this machine
    was sealed yet by the secrets that are made here at random."""
    secret = _secrets(machine, is_new=is_new)
    return [*secret, *_samples(machine, release, host), _redis_users(machine, release)]


def password(machine: Machine, name: str) -> str:
    return machine.path(f"{ETC}/{name}").read_text().strip()


def _secrets(machine: Machine, *, is_new: bool) -> list[Step]:
    names = {*DATABASE_PASSWORDS.values(), *REDIS_PASSWORDS.values()}
    sealing = [
        (MASTER_KEY, lambda: secrets.token_bytes(32), "the master key"),
        (f"{ETC}/{PASSPHRASE}", _random, "what backups are sealed by"),
    ]
    return [
        *(
            Kept(file, make if is_new else partial(_refuse, file)).step(
                machine, f"{what}, at random" if is_new else what
            )
            for file, make, what in sealing
        ),
        *(
            Kept(f"{ETC}/{n}", _random).step(machine, "a password, at random")
            for n in sorted(names)
        ),
        _restore_password(machine),
    ]


def _restore_password(machine: Machine) -> Step:
    link = machine.path(f"{ETC}/{RESTORE_PASSWORD}")
    return Step(
        f"{ETC}/{RESTORE_PASSWORD}: a link to that of migrations",
        lambda: link.is_symlink() or link.is_file(),
        lambda: point(link, f"../../{DATABASE_PASSWORDS['gatepost_migrate']}"),
    )


def _refuse(file: str) -> bytes:
    """Raise Failure instead of making a new secret: what was sealed by the lost one would stay
    sealed for ever, and nobody would know."""
    raise Failure(
        f"{file} is gone, and another one would open nothing of what is here.\n"
        "  Put the copy back that you keep elsewhere (root's alone, mode 0400)."
        " Where there is none: docs/disaster.md, Keys"
    )


def _random() -> bytes:
    return secrets.token_urlsafe(32).encode() + b"\n"


def _samples(machine: Machine, release: Release, host: str) -> list[Step]:
    def sample(package: str) -> Callable[[], bytes]:
        return lambda: _EXAMPLE.sub(host, release.sample(package)).encode()

    files = [
        Kept(f"{ETC}/{name}/config.yaml", sample(package), 0o640, group)
        for name, (package, group) in SAMPLES.items()
    ]
    redis = Kept(REDIS_CONF, lambda: release.read("redis.conf"), 0o640, "gatepost-redis")
    return [one.step(machine, "the sample, yours from then on") for one in (*files, redis)]


def _redis_users(machine: Machine, release: Release) -> Step:
    file = machine.path(USERS_ACL)

    def users() -> bytes:
        hashes = {
            user: sha256(password(machine, name).encode()).hexdigest()
            for user, name in REDIS_PASSWORDS.items()
        }
        return fill(release.read("users.acl").decode(), hashes).encode()

    def is_done() -> bool:
        known = all(machine.path(f"{ETC}/{one}").is_file() for one in REDIS_PASSWORDS.values())
        return known and has(file, users())

    return Step(
        f"{USERS_ACL}: a user for each service, as hashes, by this release's rights",
        is_done,
        lambda: machine.write(file, users(), 0o400),
    )
