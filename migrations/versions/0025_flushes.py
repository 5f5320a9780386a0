"""Rows that a transaction changes so that its commit waits for the disk."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    op.create_table(
        "flushes",
        sa.Column("place", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        **_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("flushes")
