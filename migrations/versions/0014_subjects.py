"""Reports for data subjects: who has asked, who has approved, and the MACs to find messages by."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0014"
down_revision = "0008"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    op.create_table(
        "subject_requests",
        sa.Column("report_id", sa.BINARY(16), primary_key=True),
        sa.Column("domain", _name(128)),
        sa.Column("asked_by", _name(255), nullable=False),
        sa.Column("asked_at", _time(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        sa.Column("approved_by", _name(255)),
        sa.Column("macs", mysql.LONGBLOB, nullable=False),
        sa.Column("counts", mysql.LONGTEXT, nullable=False),
        sa.Index("ix_subject_requests_expires", "expires_at"),
        **_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("subject_requests")


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
