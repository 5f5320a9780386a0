"""Which queues somebody means by a name; and never another's."""

import pytest

from gatepost.errors import Invalid, NotFound
from main_server.messages.queues.naming import Known, meant

SHARED = Known("message_queue", ("a.example", "b.example"))
OWN, FORMER = Known("c:messages", ("c.example",)), Known("old:messages", ("c.example",), left=True)
KNOWN = [SHARED, OWN, FORMER]


def test_a_queue_is_meant_by_its_name_whoever_shares_it() -> None:
    assert meant(KNOWN, "message_queue") == [SHARED]
    assert meant(KNOWN, "old:messages") == [FORMER]


def test_a_domains_are_all_that_are_its_own() -> None:
    assert meant(KNOWN, "c.example") == [OWN, FORMER]


def test_what_others_share_is_not_meant_by_one_of_them() -> None:
    with pytest.raises(Invalid, match=r"1 other domain.*message_queue"):
        meant(KNOWN, "a.example")


def test_what_is_neither_is_not_found() -> None:
    with pytest.raises(NotFound):
        meant(KNOWN, "d.example")
