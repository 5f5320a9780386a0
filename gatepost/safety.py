"""Finds secrets out of a sample and private files that others can read, and forbids core dumps.

The functions that judge return what is wrong, in words that say what to do; never the secret.
"""

import os
import resource
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

FEWEST_CHARACTERS = 12
SAMPLES = frozenset(
    {"admin", "app_password", "change-me", "change_me", "changeme", "database", "db_password"}
    | {"default", "development", "example", "gatepost", "guest", "letmein", "mariadb", "mysql"}
    | {"p@ssw0rd", "pass", "passw0rd", "password", "redis", "root", "s3cr3t", "sample", "secret"}
    | {"strong_password", "test", "topsecret", "your-password", "your_password", "yourpassword"}
)
"""Passwords as they stand in manuals, samples and containers; they count whatever digits follow."""


def private_file_faults(file: Path) -> list[str]:
    try:
        mode = file.stat().st_mode
    except OSError:
        return []  # whoever reads it says so better
    return [f"{file} can be read by others: chmod 600 {file}"] if mode & too_wide(file) else []


def too_wide(file: Path) -> int:
    """Return the bits of a file's mode that must not be set.

    systemd lets its service read a credential by an ACL, whose mask shows as a right of the group.
    """
    if is_credential(file):
        return stat.S_IWGRP | stat.S_IXGRP | stat.S_IRWXO
    return stat.S_IRWXG | stat.S_IRWXO


def is_credential(file: Path) -> bool:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return folder is not None and file.parent == Path(folder)


def password_faults(password: str, user: str = "") -> list[str]:
    plain = password.lower()
    if not password:
        return ["it has no password"]
    if plain.rstrip("0123456789!.") in SAMPLES or plain == user.lower() or plain in user.lower():
        return ["its password is from a sample, or the user's name"]
    if len(password) < FEWEST_CHARACTERS or len(set(password)) < FEWEST_CHARACTERS // 2:
        return [f"its password is too simple: {FEWEST_CHARACTERS} characters or more, at random"]
    return []


def url_password_faults(url: str) -> list[str]:
    parts = urlsplit(url)
    return password_faults(unquote(parts.password or ""), unquote(parts.username or ""))


def forbid_core_dumps() -> None:
    """Forbid core dumps of a command that has something secret in its memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
