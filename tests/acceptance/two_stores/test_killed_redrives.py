"""SIGKILL of the main server at the commit of a redrive's turn: the redrive goes on after it, and
each message is redriven and delivered once."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from gatepost.wire.people import UserRole
from main_server.messages.failed import service
from main_server.messages.failed.repository import Selection
from main_server.messages.failed.service import Order
from main_server.people.users.viewer import Viewer
from tests.acceptance.two_stores.killing import AFTER, BEFORE, commit_of, kill_service
from tests.acceptance.two_stores.rig import Rig, accepted, post
from tests.factories import DOMAIN
from tests.heard import wait_until
from tests.wire import Fault

AGAIN = b"messages.generation +"
"""What a turn says of its messages, and nobody else."""
RATE, TURNS = 2, 3
EVE = Viewer("03", "eve", UserRole.SUPER_ADMIN, "gatepost")


@pytest.mark.parametrize("fault", [BEFORE, AFTER], ids=["before", "after"])
def test_a_redrive_goes_on_when_its_main_server_was_killed(edge: Rig, fault: Fault) -> None:
    sent = failed(edge, RATE * TURNS)
    kill_service(edge, "main_server", "main-ledger", commit_of(AGAIN), fault)
    start(edge)
    edge.wait_killed("main_server")
    edge.wires["main-ledger"].heal()
    assert edge.states(sent).get("queued", 0) in (0, RATE), "a turn is whole, or it was not"

    edge.sql("UPDATE redrives SET next_at = next_at - INTERVAL 1 MINUTE")  # what it is put off by
    edge.start("main_server", "worker")
    wait_until(lambda: redrives(edge) == [("finished", len(sent))], 20)
    edge.age()
    edge.wait_delivered(sent)
    assert {row["generation"] for row in edge.rows(sent).values()} == {1}
    assert edge.delivered_twice(sent) == []
    assert sorted(one for one in audited(edge) if one in sent) == sorted(sent)


def failed(rig: Rig, count: int) -> list[str]:
    """Messages that nothing but the ledger knows any more, as after their last attempt."""
    with rig.client() as client:
        sent = [accepted(post(client))[0] for _ in range(count)]
    rig.wait_states(sent, queued=count)
    rig.sql("UPDATE messages SET status = 'failed', reason = 'refused'")
    rig.empty_redis()
    return sent


def start(rig: Rig) -> None:
    order = Order(Selection(bytes(16), b"\xff" * 16, DOMAIN), RATE)
    service.start(rig.engine, EVE.actor, order, uuid4(), datetime.now(UTC))


def redrives(rig: Rig) -> list[tuple[str, int]]:
    return [(row["state"], row["redriven"]) for row in rig.sql("SELECT * FROM redrives")]


def audited(rig: Rig) -> list[str]:
    """Each message as often as the log says that it was redriven."""
    said = rig.sql("SELECT details FROM audit_log WHERE action = 'message.redriven'")
    return [one for row in said for one in json.loads(row["details"])["message_ids"]]
