"""Opening a message for a person: who may, that it is audited first, and what can't be opened."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from gatepost.errors import CannotOpen, Invalid, NotFound
from main_server.messages.reading.opening import Opening, open_message
from main_server.people.users.viewer import Viewer
from tests.factories import BODY
from tests.integration.main_server.town import NUMBER, SUPER, Town

WHY = "the partner says that it never came"


def opened(town: Town, viewer: Viewer, message_id: UUID, reason: str = "") -> str:
    wanted = Opening(viewer, message_id, reason)
    content = open_message(town.engine, town.ring, wanted, datetime.now(UTC))
    assert content.sender_number == NUMBER
    return content.message_body


def test_a_user_reads_their_own_and_it_is_written_down(town: Town) -> None:
    (mine,) = town.send("a", number=NUMBER)
    assert opened(town, town.user("a"), mine) == BODY
    ((actor, subject, details),) = town.audited("message.opened")
    assert (actor, subject) == (f"gatepost://{town.domain}/user/ann", str(mine))
    assert json.loads(details) == {"client_id": f"{town.domain}:a", "reason": ""}


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_who_opens_anothers_says_why(town: Town, reason: str) -> None:
    (theirs,) = town.send("a", number=NUMBER)
    for viewer in (town.admin(), SUPER):
        with pytest.raises(Invalid) as refused:
            opened(town, viewer, theirs, reason)
        assert refused.value.errors[0].pointer == "/reason"
    assert town.audited("message.opened") == []
    for viewer in (town.admin(), SUPER):
        assert opened(town, viewer, theirs, WHY) == BODY
    found = [(actor, json.loads(details)["reason"]) for actor, _, details in
             town.audited("message.opened")]  # fmt: skip
    assert found == [
        (f"gatepost://{town.domain}/user/bob", WHY),
        ("gatepost://gatepost/user/eve", WHY),
    ]


def test_what_an_administrator_opens_without_a_reason_is_of_their_own_clients_alone(
    town: Town,
) -> None:
    (mine,), (theirs,) = town.send("a", number=NUMBER), town.send("b", number=NUMBER)
    for viewer in (town.admin(), SUPER):
        with_own = replace(viewer, client_ids=frozenset({f"{town.domain}:a"}))
        assert opened(town, with_own, mine) == BODY
        with pytest.raises(Invalid):
            opened(town, with_own, theirs)


def test_an_endless_reason_is_refused(town: Town) -> None:
    (theirs,) = town.send("a")
    with pytest.raises(Invalid):
        opened(town, town.admin(), theirs, "x" * 501)


def test_what_is_foreign_is_not_there_and_leaves_no_trace(town: Town) -> None:
    (theirs,) = town.send("b")
    other = Town(town.engine, town.ring)
    (foreign,) = other.send("a")
    nobodys = town.ids.new()
    for viewer, message_id in (
        (town.user("a"), theirs),
        (town.user("a"), foreign),
        (town.admin(), foreign),
        (town.admin(), nobodys),
        (SUPER, nobodys),
    ):
        with pytest.raises(NotFound) as refused:
            opened(town, viewer, message_id, WHY)
        assert refused.value.detail == NotFound().detail
    assert town.audited("message.opened") == other.audited("message.opened") == []


def test_what_nobody_can_read_any_more_is_said_to_be_so(town: Town) -> None:
    erased, altered = town.send("a", 2, number=NUMBER)
    town.client("a").force(erased, status="erased", encrypted_body=None, key_id=None)
    town.client("a").force(altered, encrypted_body=b"\x01" + bytes(60))
    for one in (erased, altered):
        with pytest.raises(CannotOpen):
            opened(town, town.user("a"), one)
    assert len(town.audited("message.opened")) == 2, "that it was tried is written down as well"
