"""A message that came by the real path goes when its days are over: its row, its key; and a copy of
the row from before, as a backup has it, is opened by nothing that is left.

Six days pass in the clocks that retention asks; everybody else's messages are kept for longer.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Connection, Engine, event, insert, text

from gatepost.content import decode_content
from gatepost.errors import CannotOpen
from gatepost.identity import Identity, Role
from gatepost.settings import load
from infra.dev.stack import Stack
from main_server.database import create_ledger_engine, transact
from main_server.keys.backup.content import renew_backup
from main_server.keys.key_file import read_master_keys
from main_server.keys.master import MasterKeys
from main_server.keys.service import Keyring, open_keyring
from main_server.retention import service
from main_server.retention.limits import Doubtful
from main_server.retention.run import Place, foresee, run
from main_server.retention.service import Asker, Subject
from main_server.retention.settings import Limits, RetentionSettings
from main_server.settings import Keys
from main_server.tables import lake_manifest, messages
from tests.acceptance.site import Site, accepted, eventually, post
from tests.factories import BODY

DAYS = 6
SECRET = f"{BODY} {uuid4()}"


@pytest.fixture
def site(stack: Stack) -> Site:
    return Site(stack)


@pytest.fixture
def later(site: Site, tmp_path: Path) -> Iterator[Place]:
    """Retention on the night after its last day, with the rights of its own user."""
    settings = load(RetentionSettings, site.stack.place.config / "retention.yaml")
    now = datetime.now(UTC).replace(tzinfo=None) + timedelta(days=DAYS + 1)
    engine = create_ledger_engine(settings.database)
    event.listen(engine, "connect", partial(_set_clock, now=now))
    master = settings.keys.master_key_file
    yield Place(
        engine,
        MasterKeys(partial(read_master_keys, master)),
        Keys(master_key_file=master, backup_file=tmp_path / "keys.backup"),
        Limits(wait_minutes=1),
        "shell:test",
        now,
    )
    engine.dispose()
    for what in ("retention_runs", "retention_counts", "lake_manifest WHERE run_id = 'by-a-test'"):
        transact(site.engine, partial(_forget, what=what))


def _forget(connection: Connection, what: str) -> None:
    """What would make a later run think that the clock is set back."""
    connection.execute(text(f"DELETE FROM {what}"))


def _set_clock(connection: Any, _: Any, now: datetime) -> None:
    """What the ledger takes for now on this connection."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET timestamp = {now.replace(tzinfo=UTC).timestamp()}")


def sealed(day: date, now: datetime) -> dict[str, Any]:
    """As the pipeline notes a day that no run reads again."""
    return {
        "day": day,
        "run_id": "by-a-test",
        "schema_version": 1,
        "row_count": 1,
        "id_xor": 0,
        "first_published_at": now,
        "published_at": now,
        "sealed_at": now,
        "late_changes": 0,
    }


def body_of(engine: Engine, ring: Keyring, copy: dict[str, Any]) -> str:
    whose = UUID(bytes=copy["message_id"]), copy["client_id"], copy["domain"]
    content = ring.open_row(engine, *whose, copy["key_id"], copy["encrypted_body"])
    return decode_content(content).message_body


def test_a_message_goes_with_its_key_and_no_copy_of_it_opens(site: Site, later: Place) -> None:
    domain = f"r{uuid4().hex[:10]}.example"
    pair = site.issue(Identity(domain, Role.CLIENT, "a"))
    client_id, said = f"{domain}:a", {"sender_number": "+491701234567", "message_body": SECRET}
    with site.calling(pair.files) as client:
        message_id = accepted(post(client, json=said))
        site.wait_delivered(message_id)
        copy = site.row(message_id)
        assert copy
        renew_backup(site.engine, later.masters, later.keys)
        assert body_of(site.engine, open_keyring(site.engine, later.masters), copy) == SECRET

        its_days_are_over(site, later, Subject(domain, client_id), message_id)
        done = run(later, foresee(later).plan.code)
        assert (done.run.state, done.run.row_count, done.run.key_count) == ("done", 1, 1)
        assert done.proof.left == []

        assert site.row(message_id) is None
        shown = f"/api/v1/messages/{message_id}"
        eventually(lambda: client.get(shown).status_code == 404, "it is gone")
    assert not transact(site.engine, partial(keys_of, client_id=client_id))
    restore(site.engine, copy)
    try:
        with pytest.raises(CannotOpen, match="destroyed"):
            body_of(site.engine, open_keyring(site.engine, later.masters), copy)
    finally:
        forget(site.engine, copy)


def its_days_are_over(site: Site, later: Place, subject: Subject, message_id: str) -> None:
    """Its client keeps for six days, which have passed since it was sealed by the pipeline."""
    day = datetime.fromtimestamp((UUID(message_id).int >> 80) / 1000, UTC).date()
    service.set_days(site.engine, Asker("test"), subject, DAYS, datetime.now(UTC))
    row = insert(lake_manifest).prefix_with("IGNORE").values(sealed(day, later.now))
    transact(site.engine, lambda c: c.execute(row))
    ((part),) = foresee(later).plan.parts
    assert (part.client_id, part.goes, part.keys_go) == (subject.client_id, 1, 1)
    with pytest.raises(Doubtful, match="a clock has jumped"):
        run(later)


def keys_of(connection: Connection, client_id: str) -> list[Any]:
    query = text("SELECT key_id FROM gatepost_keys.data_keys WHERE client_id = :client")
    return list(connection.execute(query, {"client": client_id}))


def restore(engine: Engine, copy: dict[str, Any]) -> None:
    """As from a dump of the ledger."""
    transact(engine, lambda c: c.execute(insert(messages).values(copy)))


def forget(engine: Engine, copy: dict[str, Any]) -> None:
    statement = messages.delete().where(messages.c.message_id == copy["message_id"])
    transact(engine, lambda c: c.execute(statement))
