"""The ledger's tables, all in one place; a test compares them with what the migrations make.

MySQL 8 and MariaDB 10.11 alike. Ids and names are ASCII and compared to the letter; times are UTC.
The tables of the schema KEYS live apart from the ledger, so that no backup of it holds what opens
it. `messages` and `attempts` are partitioned by day of the id (main_server.messages.partitions), so
they have no foreign keys, and each of their unique keys must contain the id.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BINARY,
    BigInteger,
    Column,
    Date,
    Enum,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import DATETIME, DOUBLE, LONGBLOB, LONGTEXT, VARBINARY, VARCHAR

KEYS = "keys"
"""A placeholder: the engine translates it to the configured schema."""

STATUSES = ("queued", "delivered", "failed", "erased", "duplicate")
ACCEPTED_BY = ("both", "queue", "ledger")
"""The stores that were asked to keep a message; main_server.messages.repository.AcceptedBy."""

metadata = MetaData()
_OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_unicode_ci",
}


def _name(length: int) -> VARCHAR:
    return VARCHAR(length, charset="ascii", collation="ascii_bin")


def _time() -> DATETIME:
    return DATETIME(fsp=3)


def _report(name: str, *own: Column[Any], keys: Sequence[str] = ()) -> Table:
    """Make a table of what was counted by day, domain, client and hour, and by keys of its own."""
    return Table(
        name,
        metadata,
        Column("day", Date, nullable=False),
        Column("hour", SmallInteger, nullable=False),
        Column("domain", _name(128), nullable=False),
        Column("client_id", _name(193), nullable=False),
        *own,
        PrimaryKeyConstraint("day", "domain", "client_id", "hour", *keys),
        Index(f"ix_{name}_domain", "domain", "day"),
        **_OPTIONS,
    )


messages = Table(
    "messages",
    metadata,
    Column("message_id", BINARY(16), nullable=False),
    Column("client_id", _name(193), nullable=False),
    Column("domain", _name(128), nullable=False),
    Column("cert_fingerprint", BINARY(32), nullable=False),
    Column("sender_number_hashed", BINARY(32)),
    Column("hmac_kid", BINARY(8)),
    Column("encrypted_body", LargeBinary),
    Column("key_id", BigInteger),
    Column("status", Enum(*STATUSES), nullable=False),
    Column("reason", _name(32)),
    Column("created_at", _time(), nullable=False),
    Column("queued_at", _time(), nullable=False),
    Column("delivered_at", _time()),
    Column("due_at", _time(), nullable=False),
    Column("expires_at", _time(), nullable=False),
    Column("client_timestamp", _time()),
    Column("attempt_count", Integer, nullable=False),
    Column("queue", _name(160), nullable=False),
    Column("priority", SmallInteger, nullable=False),
    Column("ordering_key", BINARY(32)),
    Column("generation", Integer, nullable=False),
    Column("duplicate_of", BINARY(16)),
    Column("accepted_by", Enum(*ACCEPTED_BY)),
    PrimaryKeyConstraint("message_id"),
    Index("ix_messages_client", "client_id", "message_id"),
    Index("ix_messages_status", "status", "client_id", "message_id"),
    Index("ix_messages_sender", "sender_number_hashed", "client_id", "message_id"),
    **_OPTIONS,
)

attempts = Table(
    "attempts",
    metadata,
    Column("message_id", BINARY(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("started_at", _time(), nullable=False),
    Column("ended_at", _time(), nullable=False),
    Column("outcome", Enum("delivered", "retry", "failed"), nullable=False),
    Column("reason", _name(32)),
    PrimaryKeyConstraint("message_id", "attempt"),
    **_OPTIONS,
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("client_id", _name(193), nullable=False),
    Column("key_mac", BINARY(32), nullable=False),
    Column("payload_mac", BINARY(32), nullable=False),
    Column("message_id", BINARY(16), nullable=False),
    Column("created_at", _time(), nullable=False),
    PrimaryKeyConstraint("client_id", "key_mac"),
    Index("ix_idempotency_created", "created_at"),
    **_OPTIONS,
)

flushes = Table(
    "flushes",
    metadata,
    Column("place", SmallInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    **_OPTIONS,
)

domains = Table(
    "domains",
    metadata,
    Column("domain", _name(128), primary_key=True),
    Column("queue", _name(160)),
    Column("max_undelivered", Integer, nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("retention_days", SmallInteger),
    Column("disabled_at", _time()),
    Column("time_zone", _name(64)),
    **_OPTIONS,
)

former_queues = Table(
    "former_queues",
    metadata,
    Column("queue", _name(160), primary_key=True),
    Column("domain", _name(128), nullable=False),
    Column("left_at", _time(), nullable=False),
    **_OPTIONS,
)

clients = Table(
    "clients",
    metadata,
    Column("client_id", _name(193), primary_key=True),
    Column("domain", _name(128), nullable=False),
    Column("name", _name(64), nullable=False),
    Column("rate_per_second", Integer, nullable=False),
    Column("burst", Integer, nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("disabled_at", _time()),
    Column("retention_days", SmallInteger),
    UniqueConstraint("domain", "name", name="uq_clients_name"),
    **_OPTIONS,
)

certificates = Table(
    "certificates",
    metadata,
    Column("serial", _name(32), primary_key=True),
    Column("domain", _name(128), nullable=False),
    Column("role", _name(16), nullable=False),
    Column("name", _name(64), nullable=False),
    Column("status", Enum("intended", "active", "held", "revoked"), nullable=False),
    Column("fingerprint", BINARY(32)),
    Column("not_before", _time(), nullable=False),
    Column("not_after", _time(), nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("issuer", _name(40)),
    Column("revoked_at", _time()),
    Column("revocation_reason", _name(32)),
    Column("revocation_number", BigInteger),
    Column("public_key", BINARY(32)),
    Column("der", LargeBinary),
    Column("days_announced", SmallInteger),
    Column("anchor", BINARY(32)),
    Column("used_for", _name(8)),
    Column("origin", _name(16)),
    Column("actor", _name(255)),
    Column("predecessor", _name(32)),
    UniqueConstraint("fingerprint", name="uq_certificates_fingerprint"),
    Index("ix_certificates_holder", "domain", "name"),
    Index("ix_certificates_status", "status", "not_after"),
    Index("ix_certificates_key", "public_key"),
    Index("ix_certificates_anchor", "anchor"),
    **_OPTIONS,
)

trust_anchors = Table(
    "trust_anchors",
    metadata,
    Column("anchor", BINARY(32), primary_key=True),
    Column("domain", _name(128), nullable=False),
    Column("der", LargeBinary, nullable=False),
    Column("not_after", _time(), nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("removed_at", _time()),
    **_OPTIONS,
)

revocation_state = Table(
    "revocation_state",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("changed_at", _time(), nullable=False),
    **_OPTIONS,
)

crls = Table(
    "crls",
    metadata,
    Column("issuer", _name(40), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("der", LONGBLOB, nullable=False),
    Column("this_update", _time(), nullable=False),
    Column("next_update", _time(), nullable=False),
    **_OPTIONS,
)

enrolment_tokens = Table(
    "enrolment_tokens",
    metadata,
    Column("token_hash", BINARY(32), primary_key=True),
    Column("domain", _name(128), nullable=False),
    Column("name", _name(64), nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("expires_at", _time(), nullable=False),
    Column("used_at", _time()),
    Column("withdrawn_at", _time()),
    Column("serial", _name(32)),
    Column("actor", _name(255)),
    Index("ix_enrolment_tokens_holder", "domain", "name"),
    **_OPTIONS,
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", _time(), nullable=False),
    Column("actor", _name(255), nullable=False),
    Column("action", _name(64), nullable=False),
    Column("domain", _name(128)),
    Column("subject", _name(255), nullable=False),
    Column("details", LONGTEXT, nullable=False),
    Column("previous", BINARY(32), nullable=False),
    Column("hash", BINARY(32), nullable=False),
    Index("ix_audit_log_domain", "domain", "at"),
    Index("ix_audit_log_actor", "domain", "actor", "at"),
    Index("ix_audit_log_action", "domain", "action", "at"),
    Index("ix_audit_log_subject", "domain", "subject", "at"),
    **_OPTIONS,
)

audit_head = Table(
    "audit_head",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", BINARY(32), nullable=False),
    **_OPTIONS,
)

audit_checks = Table(
    "audit_checks",
    metadata,
    Column("check_id", BINARY(16), primary_key=True),
    Column("state", Enum("running", "whole", "broken"), nullable=False),
    Column("actor", _name(255), nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("next_at", _time(), nullable=False),
    Column("head_seq", BigInteger, nullable=False),
    Column("head_hash", BINARY(32), nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", BINARY(32), nullable=False),
    Column("up_to", _time()),
    Column("fault", _name(255)),
    Column("ended_at", _time()),
    Index("ix_audit_checks_state", "state", "next_at"),
    **_OPTIONS,
)

users = Table(
    "users",
    metadata,
    Column("user_id", BINARY(16), primary_key=True),
    Column("domain", _name(128), nullable=False),
    Column("name", _name(64), nullable=False),
    Column("role", Enum("user", "admin", "super-admin"), nullable=False),
    Column("password_hash", _name(255)),
    Column("generation", Integer, nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("disabled_at", _time()),
    Column("last_login_at", _time()),
    Column("time_zone", _name(64)),
    Column("break_glass_until", _time()),
    UniqueConstraint("domain", "name", name="uq_users_name"),
    **_OPTIONS,
)

user_clients = Table(
    "user_clients",
    metadata,
    Column("user_id", BINARY(16), nullable=False),
    Column("client_id", _name(193), nullable=False),
    PrimaryKeyConstraint("user_id", "client_id"),
    **_OPTIONS,
)

password_links = Table(
    "password_links",
    metadata,
    Column("token_hash", BINARY(32), primary_key=True),
    Column("user_id", BINARY(16), nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("expires_at", _time(), nullable=False),
    Column("used_at", _time()),
    Column("made_by", BINARY(16)),
    Index("ix_password_links_user", "user_id"),
    Index("ix_password_links_maker", "made_by"),
    **_OPTIONS,
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", BINARY(16), primary_key=True),
    Column("user_id", BINARY(16), nullable=False),
    Column("generation", Integer, nullable=False),
    Column("refresh_hash", BINARY(32), nullable=False),
    Column("previous_hash", BINARY(32)),
    Column("created_at", _time(), nullable=False),
    Column("refreshed_at", _time(), nullable=False),
    Column("expires_at", _time(), nullable=False),
    Column("ended_at", _time()),
    Column("previous_login_at", _time()),
    Column("second_step_at", _time()),
    Column("family_hash", BINARY(32), nullable=False),
    Column("proved_at", _time()),
    Index("ix_sessions_user", "user_id"),
    **_OPTIONS,
)

sign_in_tries = Table(
    "sign_in_tries",
    metadata,
    Column("tried", BINARY(32), primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("last_at", _time(), nullable=False),
    Index("ix_sign_in_tries_last", "last_at"),
    **_OPTIONS,
)

totp_secrets = Table(
    "totp_secrets",
    metadata,
    Column("user_id", BINARY(16), primary_key=True),
    Column("kid", BINARY(8), nullable=False),
    Column("sealed", VARBINARY(128), nullable=False),
    Column("last_step", BigInteger, nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("confirmed_at", _time()),
    Column("wrong", Integer, nullable=False, server_default="0"),
    Column("wrong_at", _time()),
    **_OPTIONS,
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    Column("user_id", BINARY(16), nullable=False),
    Column("code_hash", BINARY(32), nullable=False),
    Column("used_at", _time()),
    PrimaryKeyConstraint("user_id", "code_hash"),
    **_OPTIONS,
)

redrives = Table(
    "redrives",
    metadata,
    Column("redrive_id", BINARY(16), primary_key=True),
    Column("domain", _name(128)),
    Column("client_id", _name(193)),
    Column("reason", _name(32)),
    Column("first_id", BINARY(16), nullable=False),
    Column("end_id", BINARY(16), nullable=False),
    Column("rate_per_second", Integer, nullable=False),
    Column("expected", Integer, nullable=False),
    Column("state", Enum("running", "stopped", "finished"), nullable=False),
    Column("next_at", _time(), nullable=False),
    Column("redriven", Integer, nullable=False),
    Column("actor", _name(255), nullable=False),
    Column("created_at", _time(), nullable=False),
    Column("ended_at", _time()),
    Column("after_client", _name(193), nullable=False),
    Column("after_id", BINARY(16), nullable=False),
    Index("ix_redrives_state", "state", "next_at"),
    Index("ix_redrives_domain", "domain", "redrive_id"),
    **_OPTIONS,
)

pauses = Table(
    "pauses",
    metadata,
    Column("what", Enum("queue", "intake"), nullable=False),
    Column("name", _name(160), nullable=False),
    Column("reason", LONGTEXT, nullable=False),
    Column("actor", _name(255), nullable=False),
    Column("since", _time(), nullable=False),
    PrimaryKeyConstraint("what", "name"),
    **_OPTIONS,
)

subject_requests = Table(
    "subject_requests",
    metadata,
    Column("report_id", BINARY(16), primary_key=True),
    Column("domain", _name(128)),
    Column("asked_by", _name(255), nullable=False),
    Column("asked_at", _time(), nullable=False),
    Column("expires_at", _time(), nullable=False),
    Column("approved_by", _name(255)),
    Column("macs", LONGBLOB, nullable=False),
    Column("counts", LONGTEXT, nullable=False),
    Index("ix_subject_requests_expires", "expires_at"),
    **_OPTIONS,
)

legal_holds = Table(
    "legal_holds",
    metadata,
    Column("hold_id", BINARY(16), primary_key=True),
    Column("domain", _name(128), nullable=False),
    Column("client_id", _name(193)),
    Column("reason", LONGTEXT, nullable=False),
    Column("set_by", _name(255), nullable=False),
    Column("set_for_all", SmallInteger, nullable=False),
    Column("set_at", _time(), nullable=False),
    Column("lifted_by", _name(255)),
    Column("lifted_reason", LONGTEXT),
    Column("lifted_at", _time()),
    Index("ix_legal_holds_domain", "domain", "lifted_at"),
    **_OPTIONS,
)

retention_state = Table(
    "retention_state",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("lake_days", SmallInteger, nullable=False),
    Column("report_days", SmallInteger, nullable=False),
    **_OPTIONS,
)

retention_runs = Table(
    "retention_runs",
    metadata,
    Column("run_id", _name(32), primary_key=True),
    Column("state", Enum("running", "done", "failed", "interrupted"), nullable=False),
    Column("actor", _name(255), nullable=False),
    Column("started_at", _time(), nullable=False),
    Column("ended_at", _time()),
    Column("row_count", BigInteger, nullable=False),
    Column("key_count", BigInteger, nullable=False),
    Column("partition_count", Integer, nullable=False),
    Column("policies", LONGTEXT, nullable=False),
    Column("reason", LONGTEXT),
    Index("ix_retention_runs_started", "started_at"),
    **_OPTIONS,
)

retention_counts = Table(
    "retention_counts",
    metadata,
    Column("run_id", _name(32), nullable=False),
    Column("client_id", _name(193), nullable=False),
    Column("day", Date, nullable=False),
    Column("dropped_with", _name(16), nullable=False),
    Column("row_count", BigInteger, nullable=False),
    Column("key_count", Integer, nullable=False),
    Column("done", SmallInteger, nullable=False),
    PrimaryKeyConstraint("run_id", "client_id", "day", "dropped_with"),
    **_OPTIONS,
)

lake_manifest = Table(
    "lake_manifest",
    metadata,
    Column("day", Date, primary_key=True),
    Column("run_id", _name(32), nullable=False),
    Column("schema_version", SmallInteger, nullable=False),
    Column("row_count", BigInteger, nullable=False),
    Column("id_xor", BigInteger, nullable=False),
    Column("first_published_at", _time(), nullable=False),
    Column("published_at", _time(), nullable=False),
    Column("sealed_at", _time()),
    Column("late_changes", Integer, nullable=False),
    Column("reports_run_id", _name(32)),
    Column("removed_at", _time()),
    Column("attempt_count", BigInteger),
    Column("sender_count", BigInteger),
    Index("ix_lake_manifest_sealed", "sealed_at", "day"),
    **_OPTIONS,
)

lake_folders = Table(
    "lake_folders",
    metadata,
    Column("day", Date, nullable=False),
    Column("run_id", _name(32), nullable=False),
    Column("begun_at", _time(), nullable=False),
    Column("replaced_at", _time()),
    Column("kind", Enum("messages", "reports"), nullable=False),
    PrimaryKeyConstraint("day", "run_id", "kind"),
    **_OPTIONS,
)

lake_runs = Table(
    "lake_runs",
    metadata,
    Column("run_id", _name(32), primary_key=True),
    Column("kind", Enum("nightly", "rebuild"), nullable=False),
    Column("state", Enum("running", "done", "failed", "interrupted"), nullable=False),
    Column("started_at", _time(), nullable=False),
    Column("ended_at", _time()),
    Column("days", Integer, nullable=False),
    Column("row_count", BigInteger, nullable=False),
    Column("late_changes", Integer, nullable=False),
    Column("reason", LONGTEXT),
    Index("ix_lake_runs_started", "started_at"),
    **_OPTIONS,
)


report_hours = _report(
    "report_hours",
    Column("accepted", BigInteger, nullable=False),
    Column("delivered", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("erased", BigInteger, nullable=False),
    Column("duplicates", BigInteger, nullable=False),
    Column("waiting", BigInteger, nullable=False),
    Column("retries", BigInteger, nullable=False),
)

report_failures = _report(
    "report_failures",
    Column("reason", _name(32), nullable=False),
    Column("failed", BigInteger, nullable=False),
    keys=["reason"],
)

report_delivery_times = _report(
    "report_delivery_times",
    Column("bucket", SmallInteger, nullable=False),
    Column("delivered", BigInteger, nullable=False),
    keys=["bucket"],
)

report_attempts = _report(
    "report_attempts",
    Column("bucket", SmallInteger, nullable=False),
    Column("delivered", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    keys=["bucket"],
)

report_attempt_times = _report(
    "report_attempt_times",
    Column("bucket", SmallInteger, nullable=False),
    Column("retried", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    keys=["bucket"],
)

report_queue_times = _report(
    "report_queue_times",
    Column("wait", _name(8), nullable=False),
    Column("bucket", SmallInteger, nullable=False),
    Column("waits", BigInteger, nullable=False),
    keys=["wait", "bucket"],
)

report_senders = Table(
    "report_senders",
    metadata,
    Column("day", Date, nullable=False),
    Column("domain", _name(128), nullable=False),
    Column("client_id", _name(193), nullable=False),
    Column("hmac_kid", BINARY(8), nullable=False),
    Column("sketch", LargeBinary, nullable=False),
    PrimaryKeyConstraint("day", "domain", "client_id", "hmac_kid"),
    Index("ix_report_senders_domain", "domain", "day"),
    **_OPTIONS,
)

report_clients = Table(
    "report_clients",
    metadata,
    Column("domain", _name(128), nullable=False),
    Column("client_id", _name(193), nullable=False),
    Column("first_day", Date, nullable=False),
    Column("last_day", Date, nullable=False),
    PrimaryKeyConstraint("domain", "client_id"),
    **_OPTIONS,
)

report_days = Table(
    "report_days",
    metadata,
    Column("domain", _name(128), nullable=False),
    Column("day", Date, nullable=False),
    Column("client_id", _name(193), nullable=False),
    *(
        Column(name, BigInteger, nullable=False)
        for name in (
            "accepted",
            "delivered",
            "failed",
            "erased",
            "duplicates",
            "waiting",
            "retries",
        )
    ),
    Column("p95_ms", DOUBLE(asdecimal=False)),
    Column("spread", LONGTEXT, nullable=False),
    PrimaryKeyConstraint("domain", "day", "client_id"),
    Index("ix_report_days_day", "day"),
    Index(
        "ix_report_days_sums",
        *("domain", "day", "client_id", "accepted", "delivered", "failed", "p95_ms"),
    ),
    **_OPTIONS,
)

report_anomalies = Table(
    "report_anomalies",
    metadata,
    Column("day", Date, nullable=False),
    Column("domain", _name(128), nullable=False),
    Column("client_id", _name(193), nullable=False),
    Column("measure", _name(32), nullable=False),
    Column("value", DOUBLE(asdecimal=False), nullable=False),
    Column("usual", DOUBLE(asdecimal=False), nullable=False),
    Column("spread", DOUBLE(asdecimal=False), nullable=False),
    Column("score", DOUBLE(asdecimal=False), nullable=False),
    Column("words", LONGTEXT, nullable=False),
    PrimaryKeyConstraint("day", "domain", "client_id", "measure"),
    Index("ix_report_anomalies_domain", "domain", "day"),
    **_OPTIONS,
)

report_forecasts = Table(
    "report_forecasts",
    metadata,
    Column("day", Date, nullable=False),
    Column("domain", _name(128), nullable=False),
    Column("target", _name(32), nullable=False),
    Column("at_most", DOUBLE(asdecimal=False)),
    Column("at_present", DOUBLE(asdecimal=False), nullable=False),
    Column("a_week", DOUBLE(asdecimal=False)),
    Column("earliest", Date),
    Column("expected", Date),
    Column("latest", Date),
    Column("words", LONGTEXT, nullable=False),
    PrimaryKeyConstraint("day", "domain", "target"),
    Index("ix_report_forecasts_domain", "domain", "day"),
    **_OPTIONS,
)

report_attainment = Table(
    "report_attainment",
    metadata,
    Column("day", Date, nullable=False),
    Column("domain", _name(128), nullable=False),
    Column("objective", _name(32), nullable=False),
    Column("target_ms", BigInteger, nullable=False),
    Column("share", DOUBLE(asdecimal=False), nullable=False),
    Column("good", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    PrimaryKeyConstraint("day", "domain", "objective"),
    Index("ix_report_attainment_domain", "domain", "day"),
    **_OPTIONS,
)

answer_times = Table(
    "answer_times",
    metadata,
    Column("hour", DATETIME, nullable=False),
    Column("process", _name(16), nullable=False),
    Column("answered", BigInteger, nullable=False),
    Column("accepted", BigInteger, nullable=False),
    Column("within_ms", LONGTEXT, nullable=False),
    PrimaryKeyConstraint("hour", "process"),
    **_OPTIONS,
)

replica_pulse = Table(
    "replica_pulse",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("at", _time(), nullable=False),
    **_OPTIONS,
)

destroyed_keys = Table(
    "destroyed_keys",
    metadata,
    Column("kind", Enum("data", "sealing"), nullable=False),
    Column("kid", BINARY(8), nullable=False),
    Column("client_id", _name(193)),
    Column("day", Date),
    Column("cause", Enum("erased", "reencrypted", "retired"), nullable=False),
    Column("destroyed_at", _time(), nullable=False),
    Column("finished_at", _time()),
    PrimaryKeyConstraint("kind", "kid"),
    Index("ix_destroyed_keys_day", "client_id", "day"),
    **_OPTIONS,
)

current_master = Table(
    "current_master",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("kid", BINARY(8), nullable=False),
    Column("changed_at", _time(), nullable=False),
    schema=KEYS,
    **_OPTIONS,
)

data_keys = Table(
    "data_keys",
    metadata,
    Column("key_id", BigInteger, primary_key=True, autoincrement=False),
    Column("client_id", _name(193), nullable=False),
    Column("day", Date, nullable=False),
    Column("state", Enum("current", "retired"), nullable=False),
    Column("master_kid", BINARY(8), nullable=False),
    Column("wrapped", VARBINARY(128), nullable=False),
    Column("created_at", _time(), nullable=False),
    UniqueConstraint("client_id", "day", "state", name="uq_data_keys_client_day"),
    schema=KEYS,
    **_OPTIONS,
)

service_keys = Table(
    "service_keys",
    metadata,
    Column("kid", BINARY(8), primary_key=True),
    Column(
        "purpose",
        Enum("sealing", "number_mac", "edge_mac", "access_token", "totp"),
        nullable=False,
    ),
    Column("master_kid", BINARY(8), nullable=False),
    Column("wrapped", VARBINARY(128), nullable=False),
    Column("public", VARBINARY(64)),
    Column("created_at", _time(), nullable=False),
    Column("retired_at", _time()),
    schema=KEYS,
    **_OPTIONS,
)
