"""A day's attempts and senders are counted when it is published, so that a rebuild can miss them.

What a day's messages were by status is read from its reports, client by client; a table of it by
domain goes.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_COLUMNS = ("attempt_count", "sender_count")
_STATUSES = ("queued", "delivered", "failed", "erased", "duplicate")
_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    """Of days from before it isn't known."""
    for name in _COLUMNS:
        op.add_column("lake_manifest", sa.Column(name, sa.BigInteger))
    op.drop_table("lake_counts")


def downgrade() -> None:
    """The earlier release counts anew what it extracts; of sealed days it takes all for late."""
    domain = mysql.VARCHAR(128, charset="ascii", collation="ascii_bin")
    op.create_table(
        "lake_counts",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("domain", domain, nullable=False),
        sa.Column("status", sa.Enum(*_STATUSES), nullable=False),
        sa.Column("row_count", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "status"),
        **_OPTIONS,
    )
    for name in _COLUMNS:
        op.drop_column("lake_manifest", name)
