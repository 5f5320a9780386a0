"""Retention: days of single clients, legal holds, the lake's own days, and what runs have done."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    op.add_column("clients", sa.Column("retention_days", sa.SmallInteger))
    op.add_column("lake_manifest", sa.Column("removed_at", _time()))
    op.create_table(
        "legal_holds",
        sa.Column("hold_id", sa.BINARY(16), primary_key=True),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193)),
        sa.Column("reason", mysql.LONGTEXT, nullable=False),
        sa.Column("set_by", _name(255), nullable=False),
        sa.Column("set_for_all", sa.SmallInteger, nullable=False),
        sa.Column("set_at", _time(), nullable=False),
        sa.Column("lifted_by", _name(255)),
        sa.Column("lifted_reason", mysql.LONGTEXT),
        sa.Column("lifted_at", _time()),
        sa.Index("ix_legal_holds_domain", "domain", "lifted_at"),
        **_OPTIONS,
    )
    op.create_table(
        "retention_state",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("lake_days", sa.SmallInteger, nullable=False),
        sa.Column("report_days", sa.SmallInteger, nullable=False),
        **_OPTIONS,
    )
    op.execute("INSERT INTO retention_state (one, lake_days, report_days) VALUES (1, 400, 1830)")
    op.create_table(
        "retention_runs",
        sa.Column("run_id", _name(32), primary_key=True),
        sa.Column("state", sa.Enum("running", "done", "failed", "interrupted"), nullable=False),
        sa.Column("actor", _name(255), nullable=False),
        sa.Column("started_at", _time(), nullable=False),
        sa.Column("ended_at", _time()),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.Column("key_count", sa.BigInteger, nullable=False),
        sa.Column("partition_count", sa.Integer, nullable=False),
        sa.Column("policies", mysql.LONGTEXT, nullable=False),
        sa.Column("reason", mysql.LONGTEXT),
        sa.Index("ix_retention_runs_started", "started_at"),
        **_OPTIONS,
    )
    op.create_table(
        "retention_counts",
        sa.Column("run_id", _name(32), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("dropped_with", _name(16), nullable=False),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.Column("key_count", sa.Integer, nullable=False),
        sa.Column("done", sa.SmallInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "client_id", "day", "dropped_with"),
        **_OPTIONS,
    )


def downgrade() -> None:
    for table in ("retention_counts", "retention_runs", "retention_state", "legal_holds"):
        op.drop_table(table)
    op.drop_column("lake_manifest", "removed_at")
    op.drop_column("clients", "retention_days")


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
