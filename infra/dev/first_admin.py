"""Makes the portal's first administrator in a development stack, with a password of this stack
alone.

It stands in a file that only its owner can read; what the stack prints and logs names the file.
"""

import secrets
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine

from gatepost.errors import NotFound
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN
from gatepost.wire.people import UserRole
from infra.dev.private import private_folder, write_private
from main_server.audit.chain import SYSTEM
from main_server.people.users import service
from main_server.people.users.passwords import hash_password, is_right
from main_server.people.users.service import NewUser

ADMIN = "admin"


def ensure_admin(engine: Engine, file: Path) -> None:
    """Ensure that the administrator exists, with the password in the file; run again, it changes
    nothing."""
    now = datetime.now(UTC)
    try:
        user = service.find(engine, INFRASTRUCTURE_DOMAIN, ADMIN)
    except NotFound:
        wanted = NewUser(INFRASTRUCTURE_DOMAIN, ADMIN, UserRole.SUPER_ADMIN)
        user = service.create(engine, wanted, now, SYSTEM)
    if not file.exists():
        private_folder(file.parent)
        write_private(file, secrets.token_urlsafe(18).encode() + b"\n", mode=0o600)
    password = file.read_text().strip()
    if not is_right(user.password_hash, password):
        service.set_password(engine, user, hash_password(password), now, SYSTEM)
