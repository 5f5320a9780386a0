"""By which stores a message was accepted: what its sender was told of its durability."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # At the end and without a value: both engines add it without touching a row.
    op.add_column("messages", sa.Column("accepted_by", sa.Enum("both", "queue", "ledger")))


def downgrade() -> None:
    op.drop_column("messages", "accepted_by")
