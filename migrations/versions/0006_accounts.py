"""Accounts: the second step of signing in, its recovery codes, and people's time zones."""

from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import mysql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}
_PURPOSES = ("sealing", "number_mac", "edge_mac", "access_token")


def upgrade() -> None:
    _change_purposes(*_PURPOSES, "totp")
    op.add_column("users", sa.Column("time_zone", _name(64)))
    op.add_column("users", sa.Column("break_glass_until", _time()))
    op.add_column("sessions", sa.Column("second_step_at", _time()))
    op.create_table(
        "totp_secrets",
        sa.Column("user_id", sa.BINARY(16), primary_key=True),
        sa.Column("kid", sa.BINARY(8), nullable=False),
        sa.Column("sealed", mysql.VARBINARY(128), nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("confirmed_at", _time()),
        **_OPTIONS,
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.BINARY(16), nullable=False),
        sa.Column("code_hash", sa.BINARY(32), nullable=False),
        sa.Column("used_at", _time()),
        sa.PrimaryKeyConstraint("user_id", "code_hash"),
        **_OPTIONS,
    )


def downgrade() -> None:
    for table in ("recovery_codes", "totp_secrets"):
        op.drop_table(table)
    op.drop_column("sessions", "second_step_at")
    op.drop_column("users", "break_glass_until")
    op.drop_column("users", "time_zone")
    keys = sa.table("service_keys", sa.column("purpose"), schema=_keys_schema())
    op.execute(keys.delete().where(keys.c.purpose == "totp"))
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


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
