"""What certificates certify, tokens to enrol with, clients that are disabled, and the audit log."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    op.add_column("certificates", sa.Column("public_key", sa.BINARY(32)))
    op.add_column("certificates", sa.Column("der", sa.LargeBinary))
    op.add_column("certificates", sa.Column("days_announced", sa.SmallInteger))
    op.create_index("ix_certificates_key", "certificates", ["public_key"])
    op.add_column("clients", sa.Column("disabled_at", _time()))
    op.create_table(
        "enrolment_tokens",
        sa.Column("token_hash", sa.BINARY(32), primary_key=True),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("name", _name(64), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        sa.Column("used_at", _time()),
        sa.Column("withdrawn_at", _time()),
        sa.Column("serial", _name(32)),
        sa.Index("ix_enrolment_tokens_holder", "domain", "name"),
        **_OPTIONS,
    )
    _create_audit()


def downgrade() -> None:
    for table in ("audit_head", "audit_log", "enrolment_tokens"):
        op.drop_table(table)
    op.drop_column("clients", "disabled_at")
    op.drop_index("ix_certificates_key", "certificates")
    for column in ("days_announced", "der", "public_key"):
        op.drop_column("certificates", column)


def _create_audit() -> None:
    op.create_table(
        "audit_log",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", _time(), nullable=False),
        sa.Column("actor", _name(255), nullable=False),
        sa.Column("action", _name(64), nullable=False),
        sa.Column("domain", _name(128)),
        sa.Column("subject", _name(255), nullable=False),
        sa.Column("details", mysql.LONGTEXT, nullable=False),
        sa.Column("previous", sa.BINARY(32), nullable=False),
        sa.Column("hash", sa.BINARY(32), nullable=False),
        sa.Index("ix_audit_log_domain", "domain", "seq"),
        **_OPTIONS,
    )
    head = op.create_table(
        "audit_head",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.BINARY(32), nullable=False),
        **_OPTIONS,
    )
    op.execute(head.insert().values(one=1, seq=0, hash=bytes(32)))


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)
