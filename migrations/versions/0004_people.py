"""People: who may sign in, their sessions, and the key that signs their tokens."""

from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import mysql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}
_PURPOSES = ("sealing", "number_mac", "edge_mac")


def upgrade() -> None:
    _change_purposes(*_PURPOSES, "access_token")
    _create_users()
    _create_sessions()


def downgrade() -> None:
    for table in ("sign_in_tries", "sessions", "password_links", "user_clients", "users"):
        op.drop_table(table)
    keys = sa.table("service_keys", sa.column("purpose"), schema=_keys_schema())
    op.execute(keys.delete().where(keys.c.purpose == "access_token"))
    _change_purposes(*_PURPOSES)


def _change_purposes(*purposes: str) -> None:
    op.alter_column(
        "service_keys",
        "purpose",
        schema=_keys_schema(),
        type_=sa.Enum(*purposes),
        existing_nullable=False,
    )


def _keys_schema() -> str:
    schema: str = context.config.attributes["keys_schema"]
    return schema


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("user_id", sa.BINARY(16), primary_key=True),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("name", _name(64), nullable=False),
        sa.Column("role", sa.Enum("user", "admin", "super-admin"), nullable=False),
        sa.Column("password_hash", _name(255)),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("disabled_at", _time()),
        sa.Column("last_login_at", _time()),
        sa.UniqueConstraint("domain", "name", name="uq_users_name"),
        **_OPTIONS,
    )
    op.create_table(
        "user_clients",
        sa.Column("user_id", sa.BINARY(16), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "client_id"),
        **_OPTIONS,
    )
    op.create_table(
        "password_links",
        sa.Column("token_hash", sa.BINARY(32), primary_key=True),
        sa.Column("user_id", sa.BINARY(16), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        sa.Column("used_at", _time()),
        sa.Index("ix_password_links_user", "user_id"),
        **_OPTIONS,
    )


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.BINARY(16), primary_key=True),
        sa.Column("user_id", sa.BINARY(16), nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("refresh_hash", sa.BINARY(32), nullable=False),
        sa.Column("previous_hash", sa.BINARY(32)),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("refreshed_at", _time(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        sa.Column("ended_at", _time()),
        sa.Column("previous_login_at", _time()),
        sa.Index("ix_sessions_user", "user_id"),
        **_OPTIONS,
    )
    op.create_table(
        "sign_in_tries",
        sa.Column("tried", sa.BINARY(32), primary_key=True),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("last_at", _time(), nullable=False),
        sa.Index("ix_sign_in_tries_last", "last_at"),
        **_OPTIONS,
    )


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
