"""Entries of the audit log in words: nobody has to know how names and details are kept."""

import pytest

from main_server.audit.words import ACTIONS, action_in_words, details_in_words, name_in_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gatepost://example.com/user/alice", "alice@example.com"),
        ("gatepost://example.com/user/a.b_c", "a.b_c@example.com"),
        ("gatepost://gatepost/admin/ops-1", "admin ops-1 of gatepost"),
        ("gatepost://example.com/client/client_001", "client client_001 of example.com"),
        ("shell:root", "root at a shell"),
        ("token:ab12", "whoever had the token ab12"),
        ("system", "the gateway itself"),
        ("example.com:client_001", "example.com:client_001"),
        ("3 messages", "3 messages"),
        ("gatepost://", "gatepost://"),
        ("gatepost://a/b/c/d", "gatepost://a/b/c/d"),
    ],
)
def test_names(name: str, words: str) -> None:
    assert name_in_words(name) == words


def test_an_action_that_nobody_knows_any_more_is_shown_by_its_name() -> None:
    assert action_in_words("message.opened") == "opened a message"
    assert action_in_words("thing.taken_away") == "thing taken away"
    assert len(set(ACTIONS.values())) == len(ACTIONS), "each can be told from the others"


def test_details() -> None:
    said = '{"client_id":"a:b","dry":false,"ids":["x","y"],"none":[],"reason":"","n":3,"d":{"k":1}}'
    assert details_in_words(said) == [
        ("client id", "a:b"),
        ("dry", "no"),
        ("ids", "x, y"),
        ("none", "none"),
        ("reason", "none"),
        ("n", "3"),
        ("d", "k 1"),
    ]
    assert details_in_words("{}") == []


@pytest.mark.parametrize("broken", ["", "{", "[1]", "7"])
def test_details_that_somebody_has_changed_are_shown_as_they_are(broken: str) -> None:
    assert details_in_words(broken) == [("unreadable", broken)]
