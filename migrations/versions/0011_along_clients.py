"""States and numbers client by client: no page, and no redrive, reads anything of others."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0011"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "ALTER TABLE messages"
        " DROP INDEX ix_messages_status,"
        " DROP INDEX ix_messages_sender,"
        " ADD INDEX ix_messages_status (status, client_id, message_id),"
        " ADD INDEX ix_messages_sender (sender_number_hashed, client_id, message_id)"
    )
    client = mysql.VARCHAR(193, charset="ascii", collation="ascii_bin")
    op.add_column("redrives", sa.Column("after_client", client, nullable=False, server_default=""))
    start = sa.text(f"x'{bytes(16).hex()}'")
    op.add_column(
        "redrives", sa.Column("after_id", sa.BINARY(16), nullable=False, server_default=start)
    )
    for name, kind in (("after_client", client), ("after_id", sa.BINARY(16))):
        op.alter_column(
            "redrives", name, existing_type=kind, existing_nullable=False, server_default=None
        )


def downgrade() -> None:
    op.drop_column("redrives", "after_id")
    op.drop_column("redrives", "after_client")
    op.execute(
        "ALTER TABLE messages"
        " DROP INDEX ix_messages_status,"
        " DROP INDEX ix_messages_sender,"
        " ADD INDEX ix_messages_status (status, message_id),"
        " ADD INDEX ix_messages_sender (sender_number_hashed, message_id)"
    )
