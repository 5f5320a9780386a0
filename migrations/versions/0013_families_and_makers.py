"""What all refresh tokens of a session have in common, and who made a link for a password."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DELETE FROM sessions")  # their tokens have no such part: people sign in again
    op.add_column("sessions", sa.Column("family_hash", sa.BINARY(32), nullable=False))
    op.add_column("password_links", sa.Column("made_by", sa.BINARY(16)))
    op.create_index("ix_password_links_maker", "password_links", ["made_by"])


def downgrade() -> None:
    op.drop_index("ix_password_links_maker", "password_links")
    op.drop_column("password_links", "made_by")
    op.drop_column("sessions", "family_hash")
