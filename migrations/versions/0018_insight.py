"""What the reports are read from (days, already added up), and what is concluded from them: what is
unusual, what is foreseen, whether targets are met; and how long answers to senders take."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}
_COUNTS = ("accepted", "delivered", "failed", "erased", "duplicates", "waiting", "retries")
_TABLES = (
    "report_days",
    "report_anomalies",
    "report_forecasts",
    "report_attainment",
    "answer_times",
)


def upgrade() -> None:
    op.create_table(
        "report_days",
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _COUNTS),
        sa.Column("p95_ms", mysql.DOUBLE(asdecimal=False)),
        sa.Column("spread", mysql.LONGTEXT, nullable=False),
        sa.PrimaryKeyConstraint("domain", "day", "client_id"),
        sa.Index("ix_report_days_day", "day"),
        sa.Index(
            "ix_report_days_sums",
            *("domain", "day", "client_id", "accepted", "delivered", "failed", "p95_ms"),
        ),
        **_OPTIONS,
    )
    op.create_table(
        "report_anomalies",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("measure", _name(32), nullable=False),
        sa.Column("value", mysql.DOUBLE(asdecimal=False), nullable=False),
        sa.Column("usual", mysql.DOUBLE(asdecimal=False), nullable=False),
        sa.Column("spread", mysql.DOUBLE(asdecimal=False), nullable=False),
        sa.Column("score", mysql.DOUBLE(asdecimal=False), nullable=False),
        sa.Column("words", mysql.LONGTEXT, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "client_id", "measure"),
        sa.Index("ix_report_anomalies_domain", "domain", "day"),
        **_OPTIONS,
    )
    op.create_table(
        "report_forecasts",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("target", _name(32), nullable=False),
        sa.Column("at_most", mysql.DOUBLE(asdecimal=False)),
        sa.Column("at_present", mysql.DOUBLE(asdecimal=False), nullable=False),
        sa.Column("a_week", mysql.DOUBLE(asdecimal=False)),
        sa.Column("earliest", sa.Date),
        sa.Column("expected", sa.Date),
        sa.Column("latest", sa.Date),
        sa.Column("words", mysql.LONGTEXT, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "target"),
        sa.Index("ix_report_forecasts_domain", "domain", "day"),
        **_OPTIONS,
    )
    op.create_table(
        "report_attainment",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("objective", _name(32), nullable=False),
        sa.Column("target_ms", sa.BigInteger, nullable=False),
        sa.Column("share", mysql.DOUBLE(asdecimal=False), nullable=False),
        sa.Column("good", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("day", "domain", "objective"),
        sa.Index("ix_report_attainment_domain", "domain", "day"),
        **_OPTIONS,
    )
    op.create_table(
        "answer_times",
        sa.Column("hour", mysql.DATETIME, nullable=False),
        sa.Column("process", _name(16), nullable=False),
        sa.Column("answered", sa.BigInteger, nullable=False),
        sa.Column("accepted", sa.BigInteger, nullable=False),
        sa.Column("within_ms", mysql.LONGTEXT, nullable=False),
        sa.PrimaryKeyConstraint("hour", "process"),
        **_OPTIONS,
    )


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")
