"""The lake's manifest and runs, and what the nightly pipeline reports."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0010"
down_revision = "0012"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}
_STATUSES = ("queued", "delivered", "failed", "erased", "duplicate")
_TABLES = (
    "lake_manifest",
    "lake_counts",
    "lake_folders",
    "lake_runs",
    "report_hours",
    "report_failures",
    "report_delivery_times",
)


def upgrade() -> None:
    op.create_table(
        "lake_manifest",
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("run_id", _name(32), nullable=False),
        sa.Column("schema_version", sa.SmallInteger, nullable=False),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.Column("id_xor", sa.BigInteger, nullable=False),
        sa.Column("first_published_at", _time(), nullable=False),
        sa.Column("published_at", _time(), nullable=False),
        sa.Column("sealed_at", _time()),
        sa.Column("late_changes", sa.Integer, nullable=False),
        sa.Index("ix_lake_manifest_sealed", "sealed_at", "day"),
        **_OPTIONS,
    )
    op.create_table(
        "lake_counts",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("status", sa.Enum(*_STATUSES), nullable=False),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "status"),
        **_OPTIONS,
    )
    op.create_table(
        "lake_folders",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("run_id", _name(32), nullable=False),
        sa.Column("begun_at", _time(), nullable=False),
        sa.Column("replaced_at", _time()),
        sa.PrimaryKeyConstraint("day", "run_id"),
        **_OPTIONS,
    )
    op.create_table(
        "lake_runs",
        sa.Column("run_id", _name(32), primary_key=True),
        sa.Column("kind", sa.Enum("nightly", "rebuild"), nullable=False),
        sa.Column("state", sa.Enum("running", "done", "failed", "interrupted"), nullable=False),
        sa.Column("started_at", _time(), nullable=False),
        sa.Column("ended_at", _time()),
        sa.Column("days", sa.Integer, nullable=False),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.Column("late_changes", sa.Integer, nullable=False),
        sa.Column("reason", mysql.LONGTEXT),
        sa.Index("ix_lake_runs_started", "started_at"),
        **_OPTIONS,
    )
    op.create_table(
        "report_hours",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("hour", sa.SmallInteger, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("accepted", sa.BigInteger, nullable=False),
        sa.Column("delivered", sa.BigInteger, nullable=False),
        sa.Column("failed", sa.BigInteger, nullable=False),
        sa.Column("erased", sa.BigInteger, nullable=False),
        sa.Column("duplicates", sa.BigInteger, nullable=False),
        sa.Column("waiting", sa.BigInteger, nullable=False),
        sa.Column("retries", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "client_id", "hour"),
        sa.Index("ix_report_hours_domain", "domain", "day"),
        **_OPTIONS,
    )
    op.create_table(
        "report_failures",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("hour", sa.SmallInteger, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("reason", _name(32), nullable=False),
        sa.Column("failed", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "client_id", "hour", "reason"),
        sa.Index("ix_report_failures_domain", "domain", "day"),
        **_OPTIONS,
    )
    op.create_table(
        "report_delivery_times",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("hour", sa.SmallInteger, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("bucket", sa.SmallInteger, nullable=False),
        sa.Column("delivered", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "client_id", "hour", "bucket"),
        sa.Index("ix_report_delivery_times_domain", "domain", "day"),
        **_OPTIONS,
    )


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
