"""The time, written by the main servers each second where there is a replica."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    op.create_table(
        "replica_pulse",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("at", mysql.DATETIME(fsp=3), nullable=False),
        **_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("replica_pulse")
