"""Domains are disabled, kept for so long and moved to other queues; the audit log is searched along
indexes, and its chain is walked in turns."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0008"
down_revision = "0013"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}

_OURS = """INSERT INTO domains (domain, max_undelivered, created_at)
    VALUES ('gatepost', 1000000, UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE domain = domain"""
"""The gateway's own certificates are of this one. Who changes domains takes turns at its row."""


def upgrade() -> None:
    op.add_column("domains", sa.Column("retention_days", sa.SmallInteger))
    op.add_column("domains", sa.Column("disabled_at", _time()))
    op.execute(_OURS)
    op.create_table(
        "former_queues",
        sa.Column("queue", _name(160), primary_key=True),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("left_at", _time(), nullable=False),
        **_OPTIONS,
    )
    # One statement: the table is built anew once, however long the log is.
    op.execute(
        "ALTER TABLE audit_log DROP INDEX ix_audit_log_domain,"
        " ADD INDEX ix_audit_log_domain (domain, at),"
        " ADD INDEX ix_audit_log_actor (domain, actor, at),"
        " ADD INDEX ix_audit_log_action (domain, action, at),"
        " ADD INDEX ix_audit_log_subject (domain, subject, at)"
    )
    op.create_table(
        "audit_checks",
        sa.Column("check_id", sa.BINARY(16), primary_key=True),
        sa.Column("state", sa.Enum("running", "whole", "broken"), nullable=False),
        sa.Column("actor", _name(255), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("next_at", _time(), nullable=False),
        sa.Column("head_seq", sa.BigInteger, nullable=False),
        sa.Column("head_hash", sa.BINARY(32), nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.BINARY(32), nullable=False),
        sa.Column("up_to", _time()),
        sa.Column("fault", _name(255)),
        sa.Column("ended_at", _time()),
        sa.Index("ix_audit_checks_state", "state", "next_at"),
        **_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("audit_checks")
    op.execute(
        "ALTER TABLE audit_log DROP INDEX ix_audit_log_subject,"
        " DROP INDEX ix_audit_log_action, DROP INDEX ix_audit_log_actor,"
        " DROP INDEX ix_audit_log_domain, ADD INDEX ix_audit_log_domain (domain, seq)"
    )
    op.drop_table("former_queues")
    op.drop_column("domains", "disabled_at")
    op.drop_column("domains", "retention_days")


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
