"""Reports of senders, attempts, queue times and clients; and all of them as files of the lake."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0017"
down_revision = "0015"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}
_SENDERS = """
CREATE ALGORITHM = MERGE SQL SECURITY DEFINER VIEW lake_senders AS
SELECT
    message_id,
    client_id,
    domain,
    hmac_kid,
    CAST(CONV(HEX(SUBSTRING(sender_number_hashed, 1, 2)), 16, 10) AS UNSIGNED) % 4096
        AS sender_register,
    49 - CHAR_LENGTH(CONV(HEX(SUBSTRING(sender_number_hashed, 3, 6)), 16, 2)) AS sender_rank
FROM messages
WHERE sender_number_hashed IS NOT NULL
"""
"""Of a MAC, no more than a sketch needs: one of 4096 registers, and the rank of 48 other bits, one
more than the zeros that they begin with. Executed with the rights of who migrates."""


def upgrade() -> None:
    _create("report_attempts", ["bucket"], ["delivered", "failed"])
    _create("report_attempt_times", ["bucket"], ["retried", "failed"])
    _create("report_queue_times", ["wait", "bucket"], ["waits"])
    op.create_table(
        "report_senders",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("hmac_kid", sa.BINARY(8), nullable=False),
        sa.Column("sketch", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "client_id", "hmac_kid"),
        sa.Index("ix_report_senders_domain", "domain", "day"),
        **_OPTIONS,
    )
    op.create_table(
        "report_clients",
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("first_day", sa.Date, nullable=False),
        sa.Column("last_day", sa.Date, nullable=False),
        sa.PrimaryKeyConstraint("domain", "client_id"),
        **_OPTIONS,
    )
    op.execute(
        "INSERT INTO report_clients (domain, client_id, first_day, last_day)"
        " SELECT domain, client_id, MIN(day), MAX(day) FROM report_hours GROUP BY domain, client_id"
    )
    op.add_column("lake_manifest", sa.Column("reports_run_id", _name(32)))
    op.execute(
        "ALTER TABLE lake_folders"
        " ADD COLUMN kind ENUM('messages', 'reports') NOT NULL DEFAULT 'messages',"
        " DROP PRIMARY KEY, ADD PRIMARY KEY (day, run_id, kind)"
    )
    op.execute("ALTER TABLE lake_folders ALTER COLUMN kind DROP DEFAULT")
    op.execute(_SENDERS)


def downgrade() -> None:
    op.execute("DROP VIEW lake_senders")
    op.execute("DELETE FROM lake_folders WHERE kind = 'reports'")
    op.execute(
        "ALTER TABLE lake_folders DROP PRIMARY KEY, ADD PRIMARY KEY (day, run_id), DROP COLUMN kind"
    )
    op.drop_column("lake_manifest", "reports_run_id")
    op.drop_table("report_clients")
    op.drop_table("report_senders")
    for table in ("report_queue_times", "report_attempt_times", "report_attempts"):
        op.drop_table(table)


def _create(table: str, keys: list[str], values: list[str]) -> None:
    """By day, domain, client and hour, and by keys of its own."""
    own: dict[str, Any] = {"wait": _name(8), "bucket": sa.SmallInteger()}
    op.create_table(
        table,
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("hour", sa.SmallInteger, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        *(sa.Column(key, own[key], nullable=False) for key in keys),
        *(sa.Column(value, sa.BigInteger, nullable=False) for value in values),
        sa.PrimaryKeyConstraint("day", "domain", "client_id", "hour", *keys),
        sa.Index(f"ix_{table}_domain", "domain", "day"),
        **_OPTIONS,
    )


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")
