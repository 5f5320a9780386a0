"""What a certificate is for, how it came to be and by whom, and which one it renews."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0012"
down_revision = "0009"
branch_labels = None
depends_on = None

_COLUMNS = {"used_for": 8, "origin": 16, "actor": 255, "predecessor": 32}


def upgrade() -> None:
    """Of those from before it isn't known."""
    for name, length in _COLUMNS.items():
        op.add_column("certificates", sa.Column(name, _name(length)))


def downgrade() -> None:
    for name in _COLUMNS:
        op.drop_column("certificates", name)


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")
