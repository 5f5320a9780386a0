"""When somebody last showed in a session that it is them; the time zone of a domain's people."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("proved_at", mysql.DATETIME(fsp=3)))
    zone = mysql.VARCHAR(64, charset="ascii", collation="ascii_bin")
    op.add_column("domains", sa.Column("time_zone", zone))


def downgrade() -> None:
    op.drop_column("domains", "time_zone")
    op.drop_column("sessions", "proved_at")
