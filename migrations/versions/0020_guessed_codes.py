"""How many wrong codes of the second step were given, and when the last one was."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "totp_secrets", sa.Column("wrong", sa.Integer, nullable=False, server_default="0")
    )
    op.add_column("totp_secrets", sa.Column("wrong_at", mysql.DATETIME(fsp=3)))


def downgrade() -> None:
    op.drop_column("totp_secrets", "wrong_at")
    op.drop_column("totp_secrets", "wrong")
