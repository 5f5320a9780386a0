"""Gives the servers their users: passwords are random, made once, and only we can read them.

The templates (infra/users.acl, infra/accounts.sql) write `@name@` where something of that user's
belongs.
"""

import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from infra.dev.private import write_private

_PLACE = re.compile(r"@([a-z_]+)@")
_COMMENTS = re.compile(r"^(?:(?:#|--).*)?\n", re.MULTILINE)


def passwords(file: Path, template: str) -> dict[str, str]:
    """Return each user's password; users of the template that have none yet get one."""
    known: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    missing = set(_PLACE.findall(template)) - set(known)
    if missing:
        known |= {user: secrets.token_urlsafe(24) for user in sorted(missing)}
        write_private(file, json.dumps(known, indent=1))
    return known


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with each place filled, without its comments."""
    return _PLACE.sub(lambda place: values[place[1]], _COMMENTS.sub("", template))
