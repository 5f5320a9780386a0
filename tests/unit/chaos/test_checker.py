"""Each kind of violation turns the checker red, and names its promise; what is allowed does not."""

import ast
import sys
from pathlib import Path
from uuid import UUID

import pytest

from tests.chaos import checker
from tests.chaos.checker.recoveries import ENOUGH
from tests.chaos.checker.verdict import judge
from tests.unit.chaos.scenes import Scene, number


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """One message that was accepted and delivered."""
    scene = Scene(tmp_path)
    scene.accepted("first", 1)
    scene.delivered("first", 1)
    return scene


def broken(scene: Scene) -> set[str]:
    return {name for name, one in scene.judge().promises.items() if not one.holds}


def test_it_imports_nothing_but_python_and_itself() -> None:
    folder = Path(str(checker.__file__)).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file.name} imports by a relative name"
                names = [str(node.module)]
            for name in names:
                own = name.startswith("tests.chaos.checker.")
                assert own or name.partition(".")[0] in sys.stdlib_module_names, file.name


def test_a_clean_run_is_green(scene: Scene) -> None:
    scene.declined("second", status=503, type="unavailable", retry_after="1")
    scene.unknown("third")
    scene.accepted("poison", 4, kind="poison", expect="fail", message_id=number(4))
    scene.ended(None, 4, "failed", reason="unreadable")
    wrong = scene.asks("wrong", kind="invalid", expect="refuse")
    scene.hears(wrong, status=422, type="invalid")
    verdict = scene.judge()
    assert verdict.green, verdict.promises
    assert verdict.line() == "acknowledged 2 · lost 0 · twice 0 · stuck 0 · exposed 0"
    assert (verdict.attempted, verdict.delivered, verdict.failed) == (5, 1, 1)


def test_an_acknowledged_message_without_a_trace_is_lost(scene: Scene) -> None:
    scene.accepted("second", 2)
    verdict = scene.judge()
    assert verdict.lost == [number(2)]
    assert broken(scene) == {"I1"}


def test_an_acknowledged_message_that_failed_is_a_broken_promise(scene: Scene) -> None:
    scene.accepted("second", 2)
    scene.ended("second", 2, "failed", reason="expired")
    assert broken(scene) == {"I1"}
    assert scene.judge().unexpected == [number(2)]


def test_one_id_for_two_texts_loses_one_of_them(scene: Scene) -> None:
    scene.accepted("second", 1)
    assert broken(scene) == {"I1"}
    assert scene.judge().lost == [number(1)]


def test_what_only_a_wiped_redis_had_is_exposed_and_not_lost(scene: Scene) -> None:
    scene.accepted("second", 2, at=10.0, durability="queue")
    scene.fault("flushall", "redis", 12.0, 12.0, destroyed=True)
    verdict = scene.judge()
    assert verdict.green
    assert verdict.exposed == [f"{number(2)}: flushall of redis"]


@pytest.mark.parametrize("durability", ["full", "ledger"])
def test_what_the_ledger_was_said_to_have_is_never_excused(scene: Scene, durability: str) -> None:
    scene.accepted("second", 2, at=10.0, durability=durability)
    scene.fault("flushall", "redis", 12.0, 12.0, destroyed=True)
    assert broken(scene) == {"I1"}


def test_five_seconds_with_both_stores_there_end_the_excuse(scene: Scene) -> None:
    scene.accepted("second", 2, at=10.0, durability="queue")
    scene.fault("flushall", "redis", 15.3, 15.3, destroyed=True)
    assert scene.judge().lost == [number(2)]


def test_while_the_ledger_is_away_the_excuse_lasts(scene: Scene) -> None:
    scene.fault("kill", "mariadb", 9.0, 40.0)
    scene.accepted("second", 2, at=10.0, durability="queue")
    scene.fault("flushall", "redis", 54.0, 54.0, destroyed=True)
    assert scene.judge().green


def test_a_redis_that_was_killed_and_kept_its_data_excuses_nothing(scene: Scene) -> None:
    scene.accepted("second", 2, at=10.0, durability="queue")
    scene.fault("kill", "redis", 10.5, 11.0)
    assert broken(scene) == {"I1"}


def test_two_delivered_rows_of_one_text_are_a_double(scene: Scene) -> None:
    scene.accepted("second", 2, key="k")
    scene.accepted("second", 3, at=2.0, key="k", kind="repeat")
    scene.delivered("second", 2)
    scene.delivered("second", 3)
    assert broken(scene) == {"I2"}
    assert scene.judge().duplicated == ["second"]


def test_a_later_id_that_ended_as_a_duplicate_is_none(scene: Scene) -> None:
    scene.accepted("second", 2, key="k")
    scene.accepted("second", 3, at=2.0, key="k", kind="repeat")
    scene.delivered("second", 2)
    scene.ended(None, 3, "duplicate", duplicate_of=number(2))
    assert scene.judge().green


def test_a_duplicate_of_what_is_gone_is_lost(scene: Scene) -> None:
    scene.accepted("second", 3, key="k")
    scene.ended(None, 3, "duplicate", duplicate_of=number(2))
    assert scene.judge().lost == [number(3)]


def test_a_row_that_is_delivered_again_is_a_double(scene: Scene) -> None:
    scene.goes(1, "delivered", "delivered", 1.4)
    assert broken(scene) == {"I2"}
    assert scene.judge().duplicated == [number(1)]


@pytest.mark.parametrize(
    ("before", "after", "given"),
    [
        ("delivered", "failed", {}),
        ("delivered", "queued", {}),
        ("erased", "delivered", {}),
        ("duplicate", "delivered", {}),
        ("failed", "queued", {}),
        ("queued", "queued", {"attempts_before": 3, "attempts": 2}),
    ],
)
def test_a_change_that_is_no_arrow_breaks_i2(
    scene: Scene, before: str, after: str, given: dict[str, int]
) -> None:
    scene.accepted("second", 2)
    scene.row("second", 2, after, delivered_ms=scene.rows[number(1)]["delivered_ms"])
    scene.goes(2, None, before)
    scene.goes(2, before, after, **given)
    assert "I2" in broken(scene)


def test_a_late_success_and_a_redrive_are_arrows(scene: Scene) -> None:
    scene.accepted("second", 2)
    scene.row("second", 2, "delivered", delivered_ms=scene.rows[number(1)]["delivered_ms"])
    scene.goes(2, None, "queued")
    scene.goes(2, "queued", "failed")
    scene.goes(2, "failed", "queued", generation=1)
    scene.goes(2, "queued", "failed", generation_before=1, generation=1)
    scene.goes(2, "failed", "delivered", generation_before=1, generation=1)
    assert scene.judge().green


def test_a_row_of_a_post_that_was_declined_breaks_i2(scene: Scene) -> None:
    scene.declined("second", status=503, type="unavailable", retry_after="1")
    scene.delivered("second", 2)
    assert broken(scene) == {"I2"}


def test_a_row_of_a_post_nobody_knows_the_end_of_may_be_there_or_not(scene: Scene) -> None:
    scene.unknown("second")
    scene.delivered("second", 2)
    op = scene.asks("third")
    scene.hears(op, status=503, type="outcome-unknown")
    scene.delivered("third", 3)
    scene.asks("fourth")  # its client was killed
    scene.delivered("fourth", 4)
    assert scene.judge().green


def test_what_the_trigger_did_not_see_is_not_believed(scene: Scene) -> None:
    scene.accepted("second", 2)
    scene.row("second", 2, "delivered", delivered_ms=scene.rows[number(1)]["delivered_ms"])
    assert broken(scene) == {"I2"}
    scene.goes(2, None, "queued")
    assert broken(scene) == {"I2"}


def test_who_waits_longer_than_a_lease_while_all_is_well_breaks_i3(scene: Scene) -> None:
    scene.accepted("second", 2)
    scene.delivered("second", 2, at=35.0)
    assert broken(scene) == {"I3"}
    scene.fault("kill", "redis", 10.0, 12.0)
    assert scene.judge().green


def test_the_attempt_of_a_worker_that_died_counts(scene: Scene) -> None:
    scene.fault("kill", "worker", 1.1, 1.2, held=[number(1)])
    assert broken(scene) == {"I3"}
    scene.rows[number(1)]["attempt_count"] = 2
    assert scene.judge().green


def test_who_waits_for_a_retry_holds_up_nobody(scene: Scene) -> None:
    scene.accepted("reluctant", 2)
    scene.delivered("reluctant", 2, at=6.0)
    scene.retried(2, at=0.9)
    scene.accepted("second", 3)
    scene.delivered("second", 3, at=1.5)
    assert scene.judge().green


def test_who_is_delivered_before_its_retry_is_due_breaks_i4(scene: Scene) -> None:
    scene.accepted("reluctant", 2)
    scene.delivered("reluctant", 2, at=6.0)
    scene.retried(2, at=0.9)
    due = scene.rows[number(2)]["delivered_ms"]
    for given, expected in ((due - 1, set()), (due + 4000, {"I4"})):
        scene.rows[number(2)]["due_ms"] = given
        assert broken(scene) == expected


def test_who_is_held_up_by_anothers_retry_breaks_i4(scene: Scene) -> None:
    scene.accepted("reluctant", 2)
    scene.delivered("reluctant", 2, at=6.0)
    scene.retried(2, at=0.9)
    scene.accepted("second", 3)
    scene.delivered("second", 3, at=4.5)
    assert broken(scene) == {"I4"}


def test_what_still_waits_at_the_end_is_stuck(scene: Scene) -> None:
    scene.accepted("second", 2)
    scene.ended("second", 2, "queued")
    assert broken(scene) == {"I5"}
    assert scene.judge().stuck == [number(2)]


def test_what_has_ended_and_is_still_in_redis_is_stuck(scene: Scene) -> None:
    scene.queue["payload"].append(number(1))
    assert broken(scene) == {"I5"}


def test_what_is_in_redis_alone_is_stuck_and_not_lost(scene: Scene) -> None:
    scene.accepted("second", 2, durability="queue")
    for place in ("exposed", "payload"):
        scene.queue[place].append(number(2))
    verdict = scene.judge()
    assert verdict.stuck == [number(2)]
    assert verdict.lost == []


def test_what_left_but_its_name_in_redis_is_lost(scene: Scene) -> None:
    scene.accepted("second", 2, durability="queue")
    scene.queue["exposed"].append(number(2))
    assert scene.judge().lost == [number(2)]


def test_who_is_revoked_may_be_refused_and_must_not_be_accepted(scene: Scene) -> None:
    scene.fault("revoke", "client-1", 5.0, 5.2)
    scene.hears(scene.asks("second", at=5.1), at=5.3, status=403, type="revoked-certificate")
    scene.accepted("third", 3, at=6.1)
    scene.delivered("third", 3, at=6.3)
    assert scene.judge().green
    scene.accepted("fourth", 4, at=6.3)
    scene.delivered("fourth", 4, at=6.4)
    assert broken(scene) == {"I8"}


@pytest.mark.parametrize("status", [429, 503])
def test_who_is_turned_away_without_a_time_to_come_back_breaks_i11(
    scene: Scene, status: int
) -> None:
    scene.declined("second", status=status, type="backlogged")
    assert broken(scene) == {"I11"}


def test_what_a_full_store_has_dropped_breaks_i11_too(scene: Scene) -> None:
    scene.fault("maxmemory", "redis", 9.0, 12.0)
    scene.accepted("second", 2, at=10.0)
    assert broken(scene) == {"I1", "I11"}


def test_poison_that_is_delivered_is_unexpected(scene: Scene) -> None:
    scene.accepted("poison", 4, kind="poison", expect="fail", message_id=number(4))
    scene.delivered("poison", 4)
    assert broken(scene) == {"I1"}


def test_a_wrong_post_that_is_accepted_is_unexpected(scene: Scene) -> None:
    scene.accepted("wrong", 4, kind="invalid", expect="refuse")
    scene.delivered("wrong", 4)
    assert broken(scene) == {"answers"}


@pytest.mark.parametrize("status", [400, 403, 422, 500])
def test_a_good_post_is_not_refused(scene: Scene, status: int) -> None:
    scene.hears(scene.asks("second"), status=status, type="invalid")
    assert broken(scene) == {"answers"}


def test_a_row_that_nobody_posted_is_unexpected(scene: Scene) -> None:
    scene.delivered("of nobody", 7)
    assert broken(scene) == {"answers"}
    assert scene.judge().unexpected == [number(7)]


def test_a_message_that_is_no_poison_must_not_fail_unseen(scene: Scene) -> None:
    scene.unknown("second")
    scene.ended("second", 2, "failed", reason="expired")
    assert broken(scene) == {"answers"}


def test_a_torn_last_line_is_an_open_operation(scene: Scene) -> None:
    scene.accepted("second", 2)
    scene.delivered("second", 2)
    scene.judge()
    file = scene.folder / "history" / "client-1.jsonl"
    file.write_text(file.read_text()[:-20])
    verdict = judge(scene.folder)
    assert verdict.green
    assert verdict.acknowledged == 1


def test_a_fault_that_could_not_be_done_is_over_and_notes_are_no_faults(scene: Scene) -> None:
    scene.fault("cut", "worker-1", 1.0, 2.0)
    scene.faults[-1]["type"] = "skip"
    scene.faults.append({"type": "note", "what": "ended", "target": "worker-1"})
    scene.faults[-1] |= {"mono": 3, "wall": 3.0}
    scene.accepted("second", 2)
    scene.delivered("second", 2, at=50.0)
    assert broken(scene) == {"I3"}


def test_recovered_are_those_that_a_fault_befell_on_their_way(scene: Scene) -> None:
    scene.fault("kill", "worker", 1.1, 1.1)
    assert scene.judge().recovered == 1


def test_ids_are_compared_whatever_their_form(scene: Scene) -> None:
    assert scene.history[1]["items"][0]["message_id"] == str(UUID(int=1))
    assert scene.judge().green


def test_a_row_that_holds_another_content_than_was_sent_is_seen(scene: Scene) -> None:
    scene.rows[number(1)]["digest"] = "of the first half"
    assert broken(scene) == {"content"}
    assert scene.judge().lost == [number(1)]


def test_a_delivered_row_that_nobody_can_open_is_seen(scene: Scene) -> None:
    scene.accepted("second", 2)
    scene.delivered(None, 2)
    assert broken(scene) == {"content"}


@pytest.mark.parametrize("digest", ["of first", None])
def test_what_the_portal_shows_is_compared_as_well(scene: Scene, digest: str | None) -> None:
    scene.shown[number(1)] = "masked, of first"
    assert scene.judge().green
    scene.shown[number(1)] = digest
    assert broken(scene) == {"content"}


def test_a_portal_that_could_not_be_asked_is_said(scene: Scene) -> None:
    scene.shown[""] = None
    [reason] = scene.judge().promises["content"].reasons
    assert reason == "unexpected: portal: the portal shows nothing: answered 404"


def test_what_the_harness_could_not_do_is_named_and_the_rest_is_judged(scene: Scene) -> None:
    scene.faults.append(
        {
            "type": "undone",
            "fault": "certificate-held",
            "target": "worker-1",
            "mono": 1,
            "wall": 1.0,
        }
        | {"why": "its end could not be done, after 9 tries"}
    )
    verdict = scene.judge()
    assert broken(scene) == {"harness"}
    assert verdict.promises["I1"].holds
    [reason] = verdict.promises["harness"].reasons
    assert "worker-1: certificate-held: its end could not be done, after 9 tries" in reason


def test_a_proxy_that_never_uses_a_store_again_is_seen(scene: Scene) -> None:
    scene.fault("kill", "main-1", 1.0, 2.0)
    scene.accepted("first", 1, at=13.0, kind="repeat", gate="proxy-1")  # told of its first post
    for n in range(2, 2 + ENOUGH):
        scene.accepted(f"m{n}", n, at=13.0 + n / 100, durability="queue", gate="proxy-1")
        scene.delivered(f"m{n}", n, at=13.5 + n / 100)
    assert broken(scene) == {"stores"}


def test_a_proxy_that_is_late_now_and_then_is_no_proxy_that_never_tries(scene: Scene) -> None:
    for n in range(2, 2 + ENOUGH):
        durability = "full" if n == 9 else "ledger"
        scene.accepted(f"m{n}", n, at=3.0 + n / 100, durability=durability, gate="proxy-1")
        scene.delivered(f"m{n}", n, at=3.5 + n / 100)
    assert broken(scene) == set()


def test_while_a_store_is_away_the_other_is_enough(scene: Scene) -> None:
    scene.fault("kill", "main-1", 1.0, 60.0)
    for n in range(2, 2 + ENOUGH):
        scene.accepted(f"m{n}", n, at=13.0 + n / 100, durability="queue", gate="proxy-1")
        scene.delivered(f"m{n}", n, at=13.5 + n / 100)
    assert broken(scene) == set()
