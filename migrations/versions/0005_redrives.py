"""Redrives: failed messages that are delivered after all. A number's messages in their order."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    # The id is in every index anyway; only named is it used to read a number's newest messages.
    op.execute(
        "ALTER TABLE messages DROP INDEX ix_messages_sender,"
        " ADD INDEX ix_messages_sender (sender_number_hashed, message_id)"
    )
    op.create_table(
        "redrives",
        sa.Column("redrive_id", sa.BINARY(16), primary_key=True),
        sa.Column("domain", _name(128)),
        sa.Column("client_id", _name(193)),
        sa.Column("reason", _name(32)),
        sa.Column("first_id", sa.BINARY(16), nullable=False),
        sa.Column("end_id", sa.BINARY(16), nullable=False),
        sa.Column("rate_per_second", sa.Integer, nullable=False),
        sa.Column("expected", sa.Integer, nullable=False),
        sa.Column("state", sa.Enum("running", "stopped", "finished"), nullable=False),
        sa.Column("next_at", _time(), nullable=False),
        sa.Column("redriven", sa.Integer, nullable=False),
        sa.Column("actor", _name(255), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("ended_at", _time()),
        sa.Index("ix_redrives_state", "state", "next_at"),
        sa.Index("ix_redrives_domain", "domain", "redrive_id"),
        **_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("redrives")
    op.execute(
        "ALTER TABLE messages DROP INDEX ix_messages_sender,"
        " ADD INDEX ix_messages_sender (sender_number_hashed)"
    )


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
