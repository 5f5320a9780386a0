"""The rights in the ledger of the users of the nightly work and of backups: as little as their part
needs.

They are made by whoever runs the database; these are their rights, granted once the tables are
there. None may read a number, or what opens a body. Sealed bodies, and what finds a number, are
read by backups alone, and by those who read from a replica what people are shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, text

from gatepost.errors import ConfigurationError

_ACCOUNT = re.compile(r"([A-Za-z0-9_.-]{1,80})@([A-Za-z0-9_.:%-]{1,255})")

METADATA = (
    "message_id",
    "client_id",
    "domain",
    "status",
    "reason",
    "created_at",
    "queued_at",
    "delivered_at",
    "expires_at",
    "attempt_count",
    "queue",
    "priority",
    "generation",
)
SENDERS = "lake_senders"
"""The view that has, for each message, the few bits of its number's MAC that a sketch of the
senders is made of."""
COUNTED = ("message_id", "client_id", "status")
SEEN_BY_RETENTION = (*COUNTED, "generation")
READ_BY_RETENTION = ("lake_manifest", "clients", "domains", "legal_holds", "destroyed_keys")
WRITTEN_BY_RETENTION = ("retention_runs", "retention_counts")
PUBLISHED = (
    "lake_manifest",
    "lake_folders",
    "lake_runs",
    "report_hours",
    "report_failures",
    "report_delivery_times",
    "report_attempts",
    "report_attempt_times",
    "report_queue_times",
    "report_senders",
    "report_clients",
    "report_days",
    "report_anomalies",
    "report_forecasts",
    "report_attainment",
)
READ = ("answer_times",)
SHOWN = ("messages", "attempts", "clients", "domains", "replica_pulse")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the database, and the host that they come from."""

    user: str
    host: str

    def __str__(self) -> str:
        return f"'{self.user}'@'{self.host}'"


def parse_account(text_: str) -> Account:
    match = _ACCOUNT.fullmatch(text_)
    if match is None:
        raise ConfigurationError("an account is USER@HOST, as the database knows it")
    return Account(*match.groups())


def grant_reading(engine: Engine, account: Account) -> None:
    """Grant the rights to read messages into the lake: their metadata and attempts, and nothing
    else."""
    _run(
        engine,
        [
            f"GRANT SELECT ({', '.join(METADATA)}) ON messages TO {account}",
            f"GRANT SELECT ON attempts TO {account}",
            f"GRANT SELECT ON {SENDERS} TO {account}",
        ],
    )


def grant_publishing(engine: Engine, account: Account) -> None:
    """Grant the rights to count messages, to write the manifest and the reports, and to see for how
    long what is kept."""
    kept = [
        f"GRANT SELECT (domain, retention_days) ON domains TO {account}",
        f"GRANT SELECT (client_id, retention_days) ON clients TO {account}",
        f"GRANT SELECT ON retention_state TO {account}",
    ]
    written = [f"GRANT SELECT, INSERT, UPDATE, DELETE ON {one} TO {account}" for one in PUBLISHED]
    read = [f"GRANT SELECT ON {one} TO {account}" for one in READ]
    counted = f"GRANT SELECT ({', '.join(COUNTED)}) ON messages TO {account}"
    _run(engine, [counted, *kept, *read, *written])


def grant_retaining(engine: Engine, account: Account, keys_schema: str) -> None:
    """Grant the rights to take away messages and keys that are past their day. No column that holds
    a body or finds a number can be read, and keys are read wrapped; what unwraps them is a file."""
    partitioned = ("ALTER", "DROP", "CREATE", "DELETE", f"SELECT ({', '.join(SEEN_BY_RETENTION)})")
    _run(
        engine,
        [
            f"GRANT LOCK TABLES ON {_schema(engine)}.* TO {account}",
            f"GRANT {', '.join(partitioned)} ON messages TO {account}",
            f"GRANT ALTER, DROP, CREATE, INSERT, DELETE, SELECT ON attempts TO {account}",
            f"GRANT SELECT, DELETE ON idempotency TO {account}",
            *(f"GRANT SELECT ON {one} TO {account}" for one in READ_BY_RETENTION),
            *(
                f"GRANT SELECT, INSERT, UPDATE, DELETE ON {one} TO {account}"
                for one in WRITTEN_BY_RETENTION
            ),
            f"GRANT SELECT, INSERT, UPDATE ON retention_state TO {account}",
            f"GRANT INSERT, UPDATE ON destroyed_keys TO {account}",
            f"GRANT SELECT, INSERT ON audit_log TO {account}",
            f"GRANT SELECT, UPDATE ON audit_head TO {account}",
            f"GRANT SELECT, UPDATE, DELETE ON {keys_schema}.data_keys TO {account}",
            f"GRANT SELECT, UPDATE ON {keys_schema}.current_master TO {account}",
            f"GRANT SELECT ON {keys_schema}.service_keys TO {account}",
        ],
    )


def _schema(engine: Engine) -> str:
    """Return the ledger's own schema: a name that the operator has chosen, not something that was
    sent."""
    return engine.dialect.identifier_preparer.quote(str(engine.url.database))


def grant_dumping(engine: Engine, account: Account) -> None:
    """Grant the rights to read the ledger as a whole; what opens bodies is in another schema."""
    schema = engine.url.database
    _run(engine, [f"GRANT SELECT, SHOW VIEW ON `{schema}`.* TO {account}"])


def grant_showing(engine: Engine, account: Account) -> None:
    """Grant the rights to read what people are shown: nothing of who they are, and of messages what
    opens no body, since the keys are in another schema."""
    _run(engine, [f"GRANT SELECT ON {one} TO {account}" for one in SHOWN + PUBLISHED])


def _run(engine: Engine, statements: Sequence[str]) -> None:
    """Run statements. Their parts are names of ours and an account that was checked."""
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
