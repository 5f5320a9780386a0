"""A machine is lost with its ledger and its CA, and comes back from its backups, on real processes:
what docs/backup.md says is done command by command, and what came of it is judged.

Nothing that was acknowledged before the backup is lost, nor what Redis still has; what could be
read can be read, but for what was destroyed; who was revoked since stays out.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from gatepost.clock import Clock
from gatepost.errors import CannotOpen
from infra.dev.place import Place
from infra.dev.ports import free_base
from infra.dev.stack import Stack
from main_server.keys.service import open_keyring
from tests.acceptance.lost_machine import (
    Operator,
    body_of,
    crl,
    lose,
    masters,
    restore,
    url_of,
)
from tests.acceptance.site import Site, Traffic, accepted, post
from tests.factories import BODY, Pair, identity
from tests.integration.main_server.conftest import Room
from tests.integration.main_server.keys.conftest import id_of, noon_of

LONG_AGO = datetime.now(UTC).date() - timedelta(days=40)
REVOKED = "urn:gatepost:problem:revoked-certificate"


@dataclass
class Before:
    """What there was when the machine was lost."""

    promised: list[str]
    """Before the backup began."""
    since: list[str]
    destroyed: UUID
    revoked: Pair
    number: int
    """Of the newest list of what is revoked."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "var")


@pytest.fixture
def operator(place: Place, tmp_path: Path) -> Operator:
    return Operator(place, tmp_path / "operator")


def live(site: Site, operator: Operator) -> Before:
    operator.configure(partial(url_of, site))
    operator.grant()
    room = Room(site.engine, open_keyring(site.engine, masters(site.stack.place)), clock=long_ago())
    old = room.envelope(message_id=id_of(LONG_AGO))
    room.deliver(old)
    pair = site.issue(identity(name=f"out-{uuid4().hex[:8]}"))
    with Traffic(site, senders=2) as traffic:
        traffic.flows()
        promised = list(traffic.promised)
        operator.backup("create")
        operator("keys", "backup", str(operator.keys))
        traffic.flows()
    site.wait_delivered(*traffic.promised)
    serial = pair.certificate.serial
    operator("cert", "revoke", "--serial", serial, "--reason", "keyCompromise", "--yes")
    operator("keys", "destroy", "--client", room.client_id, "--day", str(LONG_AGO), "--yes")
    since = [one for one in traffic.promised if one not in promised]
    return Before(promised, since, old.message_id, pair, crl(site).number)


def test_what_was_acknowledged_comes_back_and_what_was_ended_does_not(
    place: Place, operator: Operator, tmp_path: Path
) -> None:
    ports = free_base()
    with Stack(place.folder, ports) as stack:
        site = Site(stack)
        site.wait_ready()
        found = live(site, operator)
        waiting = lose(site, undelivered=5)
    assert restore(place, operator, tmp_path)["messages"] >= len(found.promised)
    with Stack(place.folder, ports) as stack:
        site = Site(stack)
        site.wait_ready()
        operator.configure_main(partial(url_of, site))
        site.wait_delivered(*found.promised, *waiting)
        assert site.undelivered(found.since), "delivered since, and so in Redis no more"

        assert body_of(site, found.promised[0]) == body_of(site, waiting[0]) == BODY
        with pytest.raises(CannotOpen, match="destroyed"):
            body_of(site, str(found.destroyed))

        now = crl(site)
        assert now.number > found.number
        assert now.serials >= {found.revoked.certificate.serial}
        with site.calling(found.revoked.files) as client:
            answers = [client.get("/api/v1/whoami") for _ in range(8)]
        assert {one.json()["type"] for one in answers} == {REVOKED}
        assert "revoked" in operator("cert", "show", "--serial", found.revoked.certificate.serial)

        with site.calling() as client:
            site.wait_delivered(accepted(post(client)))
        operator("audit", "verify")
        site.engine.dispose()


def long_ago() -> Clock:
    clock = Clock()
    clock.correct(noon_of(LONG_AGO), took_ms=0)
    return clock
