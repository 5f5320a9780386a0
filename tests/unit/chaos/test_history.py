"""What a client writes is what the checker reads."""

from pathlib import Path

from tests.chaos.checker.evidence import ACCEPTED, DECLINED, REFUSED, UNKNOWN, read_history
from tests.chaos.history import Heard, History, Item


def test_each_end_of_an_operation_is_read_as_what_it_was(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    with History(file, "one") as history:
        batch = history.invoke("batch", [Item("a"), Item("b", expect="refuse")])
        told = Heard(202, message_id="00000000-0000-0000-0000-000000000001", durability="full")
        history.ok(batch, "batch", [told, Heard(422, type="invalid")])
        refused = history.invoke("post", [Item("c", key="k")])
        history.fail(refused, "post", "429", Heard(429, type="rate-limited", retry_after="1"))
        lost = history.invoke("post", [Item("d")])
        history.info(lost, "post", "time-out")
        history.invoke("post", [Item("e")])

    posts, torn = read_history(file)

    assert torn == 0
    assert [post.outcome for post in posts] == [ACCEPTED, REFUSED, DECLINED, UNKNOWN, UNKNOWN]
    assert [post.marker for post in posts] == ["a", "b", "c", "d", "e"]
    accepted, refused_item, declined, unknown, _ = posts
    assert accepted.message_id == "00000000000000000000000000000001"
    assert accepted.durability == "full"
    assert refused_item.expect == "refuse"
    assert (declined.key, declined.retry_after, declined.whole) == ("k", "1", True)
    assert unknown.answered is not None
    assert accepted.asked <= (accepted.answered or 0)


def test_every_line_is_on_disk_before_the_next_byte_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    with History(file, "one") as history:
        history.invoke("post", [Item("a")])
        assert file.read_text().count("\n") == 1
