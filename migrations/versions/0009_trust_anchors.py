"""Trust anchors: CAs that aren't ours, each bound to one domain; certificates that are theirs."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0009"
down_revision = "0011"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    op.create_table(
        "trust_anchors",
        sa.Column("anchor", sa.BINARY(32), primary_key=True),
        sa.Column("domain", mysql.VARCHAR(128, charset="ascii", collation="ascii_bin"),
                  nullable=False),
        sa.Column("der", sa.LargeBinary, nullable=False),
        sa.Column("not_after", mysql.DATETIME(fsp=3), nullable=False),
        sa.Column("created_at", mysql.DATETIME(fsp=3), nullable=False),
        sa.Column("removed_at", mysql.DATETIME(fsp=3)),
        **_OPTIONS,
    )  # fmt: skip
    op.add_column("certificates", sa.Column("anchor", sa.BINARY(32)))
    op.create_index("ix_certificates_anchor", "certificates", ["anchor"])


def downgrade() -> None:
    op.drop_index("ix_certificates_anchor", "certificates")
    op.drop_column("certificates", "anchor")
    op.drop_table("trust_anchors")
