"""What was revoked, held and published: the columns of a certificate, the number, the CRLs."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    _set_statuses("intended", "active", "held", "revoked")
    op.add_column("certificates", sa.Column("issuer", _name(40)))
    op.add_column("certificates", sa.Column("revoked_at", _time()))
    op.add_column("certificates", sa.Column("revocation_reason", _name(32)))
    op.add_column("certificates", sa.Column("revocation_number", sa.BigInteger))
    op.create_index("ix_certificates_status", "certificates", ["status", "not_after"])
    state = op.create_table(
        "revocation_state",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("changed_at", _time(), nullable=False),
        **_OPTIONS,
    )
    op.execute(state.insert().values(one=1, number=0, changed_at=sa.func.utc_timestamp(3)))
    op.create_table(
        "crls",
        sa.Column("issuer", _name(40), primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("der", mysql.LONGBLOB, nullable=False),
        sa.Column("this_update", _time(), nullable=False),
        sa.Column("next_update", _time(), nullable=False),
        **_OPTIONS,
    )


def downgrade() -> None:
    op.drop_table("crls")
    op.drop_table("revocation_state")
    op.drop_index("ix_certificates_status", "certificates")
    for column in ("revocation_number", "revocation_reason", "revoked_at", "issuer"):
        op.drop_column("certificates", column)
    # The older release knows no hold: what was not to be used must not come back to life.
    op.execute("UPDATE certificates SET status = 'revoked' WHERE status = 'held'")
    _set_statuses("intended", "active", "revoked")


def _set_statuses(*statuses: str) -> None:
    op.alter_column(
        "certificates", "status", type_=sa.Enum(*statuses), existing_nullable=False, nullable=False
    )


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
