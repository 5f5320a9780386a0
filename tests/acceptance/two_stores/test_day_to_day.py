"""What operators do day by day, by the commands that they type, on real processes: queues that are
paused, intake that is, a proxy that drains, redriving and discarding. Nothing that was accepted is
lost by any of it (I1, I11), all of it ends (I5), and each act is in the audit log."""

import json
import os
import signal
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from infra.dev.ports import HOST
from tests.acceptance.two_stores.conftest import having
from tests.acceptance.two_stores.rig import QUEUE, Rig, accepted, post, problem
from tests.acceptance.two_stores.shell import done, run
from tests.factories import DOMAIN, NUMBER
from tests.heard import wait_until

WHY = "the database is being moved"


def audited(rig: Rig, action: str) -> list[dict[str, Any]]:
    found = rig.sql("SELECT * FROM audit_log WHERE action = :action ORDER BY seq", action=action)
    return [one | {"details": json.loads(one["details"])} for one in found]


def readiness(rig: Rig, service: str) -> tuple[int, dict[str, Any]]:
    answer = httpx.get(f"http://{HOST}:{rig.ops_port(service)}/readyz", trust_env=False)
    return answer.status_code, answer.json()["checks"]


def says(rig: Rig, service: str, check: str) -> str:
    return readiness(rig, service)[1].get(check, {}).get("detail") or ""


@pytest.fixture
def rested(whole: Rig) -> Iterator[Rig]:
    """Nothing stays paused."""
    yield whole
    whole.sql("DELETE FROM pauses")


def pause_queue(rig: Rig) -> None:
    (paused,) = done(rig, "queue", "pause", DOMAIN, "--reason", WHY)
    assert (paused["name"], paused["reason"], paused["new"]) == (QUEUE, WHY, True)
    wait_until(lambda: QUEUE in says(rig, "worker", "queues"), 10)


def resume_queue(rig: Rig) -> None:
    assert done(rig, "queue", "resume", DOMAIN)[0]["resumed"]
    wait_until(lambda: not says(rig, "worker", "queues"), 10)


def send(rig: Rig, count: int) -> list[str]:
    with rig.client() as client:
        return [accepted(post(client))[0] for _ in range(count)]


def listed(rig: Rig, name: str = QUEUE) -> dict[str, Any]:
    (found,) = [one for one in done(rig, "queue", "list") if one["queue"] == name]
    return found


def test_from_a_paused_queue_nothing_is_delivered_whatever_is_restarted(rested: Rig) -> None:
    rig = rested
    pause_queue(rig)
    sent = send(rig, 3)
    rig.wait_states(sent, queued=3)
    found = listed(rig)
    assert (found["ready"], found["paused"]["reason"]) == (3, WHY)
    peeked = done(rig, "queue", "peek", QUEUE)
    assert {one["message_id"] for one in peeked} == set(sent)
    assert {one["client_id"] for one in peeked} == {f"{DOMAIN}:client_001"}
    (story,) = done(rig, "message", "why", sent[0])
    assert "Its queue is paused since" in story["why"]
    assert WHY in story["why"]

    rig.stop("worker")
    rig.empty_redis()
    over, *others = sent
    rig.sql(
        "UPDATE messages SET expires_at = UTC_TIMESTAMP() - INTERVAL 1 SECOND"
        " WHERE message_id = :over",
        over=UUID(over).bytes,
    )
    rig.age()
    rig.start("worker")
    rig.wait_states([over], failed=1)
    assert rig.rows([over])[over]["reason"] == "expired", "as ever, while its queue is paused"
    wait_until(lambda: rig.waiting() == 2, 20)
    wait_until(lambda: QUEUE in says(rig, "worker", "queues"), 10)
    assert (rig.leased(), rig.states(others)) == (0, {"queued": 2})

    resume_queue(rig)
    rig.wait_delivered(others)
    assert rig.delivered_twice(others) == []
    assert audited(rig, "queue.paused")[-1]["details"] == {"reason": WHY}
    assert audited(rig, "queue.resumed")[-1]["actor"].startswith("shell:")


def test_a_shared_queue_is_paused_by_its_own_name_alone(rested: Rig) -> None:
    rig = rested
    for name in ("a.shared.example", "b.shared.example"):
        if not rig.sql("SELECT 1 FROM domains WHERE domain = :name", name=name):
            done(rig, "domain", "add", name)
    refused = run(rig, "queue", "pause", "a.shared.example", "--reason", WHY)
    assert refused.code == 3
    assert "message_queue" in refused.complaint
    assert done(rig, "queue", "pause", "message_queue", "--reason", WHY)
    assert run(rig, "queue", "pause", "nowhere.example", "--reason", WHY).code == 4
    assert run(rig, "queue", "pause", QUEUE, "--reason", " ").code == 3
    (again,) = done(rig, "queue", "pause", "message_queue", "--reason", "another")
    assert (again["reason"], again["new"]) == (WHY, False), "the first one's word stays"
    assert [one["name"] for one in rig.sql("SELECT name FROM pauses")] == ["message_queue"]
    number = run(rig, "queue", "resume", "message_queue", "--reason", f"call {NUMBER}")
    assert (number.code, NUMBER in number.complaint) == (3, False)
    assert "leave the number out" in number.complaint
    with rig.refused("main-ledger"):
        (counted,) = done(rig, "queue", "stats", QUEUE)
        assert (counted["partition"], counted["ready"], counted["ledger_answers"]) == (0, 0, False)
        assert done(rig, "queue", "peek", QUEUE) == []
        assert run(rig, "queue", "pause", QUEUE, "--reason", WHY).code == 5
    with rig.refused("main-redis"):
        assert run(rig, "queue", "list").code == 5


def test_what_is_discarded_has_failed_for_good_and_is_delivered_by_nobody(rested: Rig) -> None:
    rig = rested
    pause_queue(rig)
    sent = send(rig, 4)
    rig.wait_states(sent, queued=4)
    purge = ("queue", "purge", QUEUE, "--reason", WHY)
    assert done(rig, *purge, "--dry-run") == [{"dry_run": True, "expected": 4}]
    assert run(rig, *purge).code == 2, "nobody was there to be asked"
    assert rig.states(sent) == {"queued": 4}

    with rig.refused("main-redis"):
        ran = run(rig, *purge, "--yes")
        assert (ran.code, ran.said[0]["discarded"]) == (11, 4)
    assert rig.waiting() == 4
    entry = audited(rig, "message.purged")[-1]
    assert (sorted(entry["details"]["message_ids"]), entry["domain"]) == (sorted(sent), DOMAIN)
    resume_queue(rig)
    wait_until(lambda: rig.waiting() == 0, 20)
    rig.wait_states(sent, failed=4)
    assert {row["reason"] for row in rig.rows(sent).values()} == {"discarded"}

    assert done(rig, "queue", "purge", QUEUE, "--dead", "--reason", WHY)[0]["forgotten"] >= 4
    assert listed(rig)["dead"] == 0
    rig.wait_delivered(send(rig, 1))


def test_what_failed_is_redriven_from_the_shell(rested: Rig) -> None:
    rig = rested
    pause_queue(rig)
    sent = send(rig, 3)
    rig.wait_states(sent, queued=3)
    rig.empty_redis()
    rig.sql("UPDATE messages SET status = 'failed', reason = 'attempts_used'")
    redrive = ("queue", "redrive", "--domain", DOMAIN, "--reason", WHY, "--failed-for")
    assert done(rig, *redrive, "expired", "--dry-run")[0]["expected"] == 0
    assert done(rig, *redrive, "attempts_used", "--dry-run")[0]["expected"] == 3
    assert rig.states(sent) == {"failed": 3}
    (begun,) = done(rig, *redrive, "attempts_used", "--yes", "--rate", "100")
    assert audited(rig, "redrive.started")[-1]["details"]["why"] == WHY
    resume_queue(rig)
    rig.wait_states(sent, queued=3)
    rig.age()
    rig.wait_delivered(sent)
    (told,) = [
        one for one in done(rig, "queue", "redrives") if one["redrive_id"] == begun["redrive_id"]
    ]
    assert told["redriven"] == 3


@pytest.fixture
def many(rig: Rig) -> Iterator[Rig]:
    """A proxy of two processes, and a main server."""
    having(rig, "main_server")
    rig.configure("proxy", "server", workers=2)
    rig.configure("proxy", "draining", grace_seconds=600)
    rig.start("proxy")
    with rig.client() as client:
        rig.settle(client)
    yield rig
    rig.sql("DELETE FROM pauses")
    rig.configure("proxy", "server", workers=1)
    having(rig)


def answers(rig: Rig, count: int = 8) -> set[tuple[int, str]]:
    """Of posts, each on a connection of its own: whichever process takes it. One that is being
    replaced answers who it has just let in."""
    found = set()
    for _ in range(count):
        with rig.client() as client:
            answer = post(client)
            kind = "" if answer.status_code == 202 else problem(answer)
            assert (kind == "") or answer.headers["retry-after"]
            found.add((answer.status_code, kind))
    return found


def test_while_intake_is_paused_each_process_says_503_with_no_main_server_too(many: Rig) -> None:
    rig, shut = many, {(503, "intake-paused")}
    with rig.client() as client:
        before = accepted(post(client))[0]
    done(rig, "intake", "pause", DOMAIN, "--reason", WHY)
    wait_until(lambda: answers(rig) == shut, 10)
    with rig.client() as client:
        assert client.get(f"/api/v1/messages/{before}").status_code == 200
        batch = client.post("/api/v1/messages/batch", json=[{}])
        assert (batch.status_code, problem(batch)) == (503, "intake-paused")
    wait_until(lambda: DOMAIN in says(rig, "proxy", "intake"), 10)
    assert readiness(rig, "proxy")[0] == 200

    rig.stop("main_server", "proxy")
    rig.launch("proxy")
    wait_until(lambda: rig.ready("proxy"), 30)
    assert answers(rig) == shut, "by what it kept on disk"

    rig.start("main_server")
    assert done(rig, "intake", "resume", DOMAIN)[0]["resumed"]
    wait_until(lambda: answers(rig) == {(202, "")}, 10)
    assert run(rig, "intake", "pause", "--all", "--reason", WHY).code == 2, "that is asked first"
    assert audited(rig, "intake.paused")[-1]["subject"] == DOMAIN


def test_a_proxy_that_drains_sends_its_callers_to_others_and_takes_it_back(many: Rig) -> None:
    rig = many
    assert done(rig, "proxy", "drain", service="proxy")[0]["draining"]
    status, checks = readiness(rig, "proxy")
    assert (status, checks["drain"]["ok"]) == (503, False)
    with rig.client() as client:
        answer = post(client)
        assert (answer.status_code, answer.headers["connection"]) == (202, "close")

    rig.configure("proxy", "draining", grace_seconds=0)
    os.kill(rig.children["proxy"].pid, signal.SIGHUP)
    wait_until(lambda: answers(rig) == {(503, "draining")}, 60)
    with rig.client() as client:
        refused = post(client)
        assert refused.headers["connection"] == "close"
        kept = accepted(answer)[0]
        assert client.get(f"/api/v1/messages/{kept}").status_code == 200

    assert not done(rig, "proxy", "undrain", service="proxy")[0]["draining"]
    assert answers(rig) == {(202, "")}
    wait_until(lambda: rig.ready("proxy"), 10)
    rig.stop("proxy")
    assert run(rig, "proxy", "drain", service="proxy").code == 5
