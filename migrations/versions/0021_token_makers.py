"""Who has made a token to enrol with, so that it ends with them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "enrolment_tokens",
        sa.Column("actor", mysql.VARCHAR(255, charset="ascii", collation="ascii_bin")),
    )


def downgrade() -> None:
    op.drop_column("enrolment_tokens", "actor")
