"""What is paused by hand: queues that workers leave alone, domains of which nothing is taken in."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pauses",
        sa.Column("what", sa.Enum("queue", "intake"), nullable=False),
        sa.Column(
            "name", mysql.VARCHAR(160, charset="ascii", collation="ascii_bin"), nullable=False
        ),
        sa.Column("reason", mysql.LONGTEXT, nullable=False),
        sa.Column(
            "actor", mysql.VARCHAR(255, charset="ascii", collation="ascii_bin"), nullable=False
        ),
        sa.Column("since", mysql.DATETIME(fsp=3), nullable=False),
        sa.PrimaryKeyConstraint("what", "name"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_unicode_ci",
    )


def downgrade() -> None:
    op.drop_table("pauses")
