"""Messages, who may send them, and the keys that seal them."""

from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def upgrade() -> None:
    _create_messages()
    _create_idempotency()
    _create_holders()
    _create_destroyed_keys()
    _create_keys(context.config.attributes["keys_schema"])


def downgrade() -> None:
    keys_schema = context.config.attributes["keys_schema"]
    for table in ("service_keys", "data_keys", "current_master"):
        op.drop_table(table, schema=keys_schema)
    for table in ("destroyed_keys", "certificates", "clients", "domains", "idempotency"):
        op.drop_table(table)
    for table in ("attempts", "messages"):
        op.drop_table(table)


def _name(length: int) -> mysql.VARCHAR:
    return mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> mysql.DATETIME:
    return mysql.DATETIME(fsp=3)


def _create_messages() -> None:
    op.create_table(
        "messages",
        sa.Column("message_id", sa.BINARY(16), nullable=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("cert_fingerprint", sa.BINARY(32), nullable=False),
        sa.Column("sender_number_hashed", sa.BINARY(32)),
        sa.Column("hmac_kid", sa.BINARY(8)),
        sa.Column("encrypted_body", sa.LargeBinary),
        sa.Column("key_id", sa.BigInteger),
        sa.Column(
            "status",
            sa.Enum("queued", "delivered", "failed", "erased", "duplicate"),
            nullable=False,
        ),
        sa.Column("reason", _name(32)),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("queued_at", _time(), nullable=False),
        sa.Column("delivered_at", _time()),
        sa.Column("due_at", _time(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        sa.Column("client_timestamp", _time()),
        sa.Column("attempt_count", sa.Integer, nullable=False),
        sa.Column("queue", _name(160), nullable=False),
        sa.Column("priority", sa.SmallInteger, nullable=False),
        sa.Column("ordering_key", sa.BINARY(32)),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("duplicate_of", sa.BINARY(16)),
        sa.PrimaryKeyConstraint("message_id"),
        sa.Index("ix_messages_client", "client_id", "message_id"),
        sa.Index("ix_messages_status", "status", "message_id"),
        sa.Index("ix_messages_sender", "sender_number_hashed"),
        **_OPTIONS,
    )
    op.create_table(
        "attempts",
        sa.Column("message_id", sa.BINARY(16), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("started_at", _time(), nullable=False),
        sa.Column("ended_at", _time(), nullable=False),
        sa.Column("outcome", sa.Enum("delivered", "retry", "failed"), nullable=False),
        sa.Column("reason", _name(32)),
        sa.PrimaryKeyConstraint("message_id", "attempt"),
        **_OPTIONS,
    )
    # The days are made by the main server, which keeps them two weeks ahead.
    for table in ("messages", "attempts"):
        op.execute(
            f"ALTER TABLE {table} PARTITION BY RANGE COLUMNS(message_id)"
            " (PARTITION pmax VALUES LESS THAN (MAXVALUE))"
        )


def _create_idempotency() -> None:
    op.create_table(
        "idempotency",
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("key_mac", sa.BINARY(32), nullable=False),
        sa.Column("payload_mac", sa.BINARY(32), nullable=False),
        sa.Column("message_id", sa.BINARY(16), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.PrimaryKeyConstraint("client_id", "key_mac"),
        sa.Index("ix_idempotency_created", "created_at"),
        **_OPTIONS,
    )


def _create_holders() -> None:
    op.create_table(
        "domains",
        sa.Column("domain", _name(128), primary_key=True),
        sa.Column("queue", _name(160)),
        sa.Column("max_undelivered", sa.Integer, nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        **_OPTIONS,
    )
    op.create_table(
        "clients",
        sa.Column("client_id", _name(193), primary_key=True),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("name", _name(64), nullable=False),
        sa.Column("rate_per_second", sa.Integer, nullable=False),
        sa.Column("burst", sa.Integer, nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.UniqueConstraint("domain", "name", name="uq_clients_name"),
        **_OPTIONS,
    )
    op.create_table(
        "certificates",
        sa.Column("serial", _name(32), primary_key=True),
        sa.Column("domain", _name(128), nullable=False),
        sa.Column("role", _name(16), nullable=False),
        sa.Column("name", _name(64), nullable=False),
        sa.Column("status", sa.Enum("intended", "active", "revoked"), nullable=False),
        sa.Column("fingerprint", sa.BINARY(32)),
        sa.Column("not_before", _time(), nullable=False),
        sa.Column("not_after", _time(), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.UniqueConstraint("fingerprint", name="uq_certificates_fingerprint"),
        sa.Index("ix_certificates_holder", "domain", "name"),
        **_OPTIONS,
    )


def _create_destroyed_keys() -> None:
    op.create_table(
        "destroyed_keys",
        sa.Column("kind", sa.Enum("data", "sealing"), nullable=False),
        sa.Column("kid", sa.BINARY(8), nullable=False),
        sa.Column("client_id", _name(193)),
        sa.Column("day", sa.Date),
        sa.Column("cause", sa.Enum("erased", "reencrypted", "retired"), nullable=False),
        sa.Column("destroyed_at", _time(), nullable=False),
        sa.Column("finished_at", _time()),
        sa.PrimaryKeyConstraint("kind", "kid"),
        sa.Index("ix_destroyed_keys_day", "client_id", "day"),
        **_OPTIONS,
    )


def _create_keys(schema: str) -> None:
    op.create_table(
        "current_master",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("kid", sa.BINARY(8), nullable=False),
        sa.Column("changed_at", _time(), nullable=False),
        schema=schema,
        **_OPTIONS,
    )
    op.create_table(
        "data_keys",
        sa.Column("key_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("client_id", _name(193), nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("state", sa.Enum("current", "retired"), nullable=False),
        sa.Column("master_kid", sa.BINARY(8), nullable=False),
        sa.Column("wrapped", mysql.VARBINARY(128), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.UniqueConstraint("client_id", "day", "state", name="uq_data_keys_client_day"),
        schema=schema,
        **_OPTIONS,
    )
    op.create_table(
        "service_keys",
        sa.Column("kid", sa.BINARY(8), primary_key=True),
        sa.Column("purpose", sa.Enum("sealing", "number_mac", "edge_mac"), nullable=False),
        sa.Column("master_kid", sa.BINARY(8), nullable=False),
        sa.Column("wrapped", mysql.VARBINARY(128), nullable=False),
        sa.Column("public", mysql.VARBINARY(64)),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("retired_at", _time()),
        schema=schema,
        **_OPTIONS,
    )
