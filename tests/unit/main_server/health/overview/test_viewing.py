"""What each sees of the place: an administrator their domain, and of the rest its health (I12)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from gatepost.clock import from_ms
from gatepost.queue import Stats
from gatepost.service.ops import helpful, needed
from gatepost.wire.bundle import KnownDomain
from gatepost.wire.overview import Overview
from gatepost.wire.people import UserRole
from main_server.health.overview.collecting import Sample, Snapshot
from main_server.health.overview.heard import Counted
from main_server.health.overview.repository import Expiring, Survey
from main_server.health.overview.viewing import overview_for
from main_server.people.users.viewer import Viewer
from main_server.tenants.pauses.repository import Pause
from tests.factories import vitals_of

NOW = 1_900_000_000_000
MANY = 1_000
MOMENT = from_ms(NOW)
CHECKS = {"ledger": needed(None), "redis": helpful(None), "safety": needed(None)}
ANN = Viewer("1", "ann", UserRole.ADMIN, "a.example")
BOB = Viewer("2", "bob", UserRole.ADMIN, "b.example")
EVE = Viewer("3", "eve", UserRole.SUPER_ADMIN, "gatepost")
DOMAINS = [
    KnownDomain("a.example", "a:messages", 500),
    KnownDomain("b.example", None, 500),
    KnownDomain("c.example", None, 500),
]


def stats(waiting: int, **given: Any) -> Stats:
    whole = {"leased": 0, "delayed": 0, "in_line": 0, "dead": 0, "exposed": 0, "oldest_ms": 0}
    return Stats(ready={5: waiting}, alone=0, **(whole | given))


FLOWS = {
    ("accepted", "a.example"): Counted(20, 10.0),
    ("accepted", "b.example"): Counted(6, 3.0),
    ("delivered", "b.example"): Counted(4, 2.0),
    ("failed", "a.example"): Counted(1, 0.5),
}
QUEUES = {
    "a:messages": stats(7, delayed=2, exposed=1, oldest_ms=1_500),
    "message_queue": stats(1_000, oldest_ms=90_000),
}
EXPIRING = [
    Expiring("a.example", "client", "x", MOMENT + timedelta(days=3, hours=1)),
    Expiring("b.example", "client", "y", MOMENT + timedelta(hours=3)),
    Expiring("gatepost", "proxy", "edge-1", MOMENT + timedelta(days=20)),
]
FINE = {"queue": (True, None), "ledger": (True, None)}
BROKEN = {"queue": (True, None), "ledger": (True, "status 503"), "stores": (False, "none answers")}
SNAPSHOT = Snapshot(
    NOW,
    CHECKS,
    [
        (vitals_of(1, checks=FINE), 0.5),
        (vitals_of(2, checks=BROKEN, machine="edge-2"), 0.5),
        (vitals_of(3, service="worker", machine="work-1"), 0.5),
        (vitals_of(4, service="worker", machine="work-2"), 12.0),
        (vitals_of(5, service="main_server", machine="main-1"), 0.5),
    ],
    [Sample(None, None), Sample(FLOWS, QUEUES)],
    Survey(DOMAINS, EXPIRING),
    "message_queue",
)


def part(overview: Overview, name: str) -> tuple[str, str]:
    (found,) = [one for one in overview.parts if one.name == name]
    return found.state, found.words


def test_an_administrator_sees_the_figures_of_their_domain_and_of_their_own_queue() -> None:
    seen = overview_for(ANN, SNAPSHOT)
    assert (seen.domain, seen.covers_seconds) == ("a.example", 4)
    assert (seen.accepted.per_second, seen.accepted.count) == (10.0, 20)
    assert seen.accepted.series == [None, 10.0]
    assert (seen.delivered.count, seen.failed.count) == (0, 1)
    assert seen.waiting is not None
    assert (seen.waiting.undelivered, seen.waiting.ready, seen.waiting.retrying) == (9, 7, 2)
    assert (seen.waiting.exposed, seen.waiting.oldest_ms, seen.waiting.limit) == (1, 1_500, 500)
    assert seen.waiting.series == [None, 9.0]
    assert [(one.name, one.days) for one in seen.certificates] == [("x", 3)]
    assert (seen.processes, seen.domains) == ([], [])
    assert part(seen, "Queue") == ("ok", "Keeps up.")


def test_of_a_shared_queue_it_is_told_whether_it_keeps_up() -> None:
    seen = overview_for(BOB, SNAPSHOT)
    assert seen.waiting is None
    state, words = part(seen, "Queue")
    assert (state, words.startswith("Is behind. It is shared")) == ("trouble", True)
    assert (seen.accepted.count, seen.delivered.count, seen.failed.count) == (6, 4, 0)


def test_an_administrator_hears_of_what_is_shared_only_whether_it_is_well() -> None:
    seen = overview_for(ANN, SNAPSHOT)
    assert part(seen, "Proxies") == ("trouble", "At work, not all of them.")
    assert part(seen, "Workers") == ("trouble", "At work, not all of them.")
    assert part(seen, "Main servers") == ("ok", "At work.")
    assert part(seen, "Breakers") == ("trouble", "Some are open.")
    said = msgspec.json.encode(seen).decode()
    for foreign in ("b.example", "c.example", "gatepost", "edge-", "work-", "1000", "503", "90000"):
        assert foreign not in said, foreign


@pytest.mark.parametrize("viewer", [ANN, BOB])
def test_whatever_others_do_an_administrator_is_told_the_same(viewer: Viewer) -> None:
    """Other domains' messages, certificates and clients change nothing of what is seen."""

    def own(one: Any) -> bool:
        return bool(viewer.domain in (getattr(one, "domain", ""), getattr(one, "name", "")))

    flows = {(kind, domain): n for (kind, domain), n in FLOWS.items() if domain == viewer.domain}
    shared = viewer is BOB
    queues = QUEUES if shared else {"a:messages": QUEUES["a:messages"]}
    elsewhere = replace(
        SNAPSHOT,
        samples=[Sample(None, None), Sample(flows, queues)],
        survey=Survey(DOMAINS, [one for one in EXPIRING if own(one)]),
    )
    assert overview_for(viewer, elsewhere) == overview_for(viewer, SNAPSHOT)


def test_who_runs_the_place_sees_all_of_it() -> None:
    seen = overview_for(EVE, SNAPSHOT)
    assert seen.domain is None
    assert (seen.accepted.count, seen.accepted.per_second) == (26, 13.0)
    assert seen.waiting is not None
    assert (seen.waiting.undelivered, seen.waiting.oldest_ms) == (1_009, 90_000)
    assert seen.waiting.limit is None
    assert [(one.domain, one.undelivered, one.shared) for one in seen.domains] == [
        ("a.example", 9, False),
        ("b.example", 1_000, True),
        ("c.example", 1_000, True),
    ]
    assert part(seen, "Proxies") == ("trouble", "2 at work, 1 not ready.")
    assert part(seen, "Workers") == ("trouble", "1 at work, 1 not heard of any more.")
    state, words = part(seen, "Breakers")
    assert (state, words) == ("trouble", "1 open: proxy to ledger on edge-2: status 503.")
    assert "for 1 minute" in part(seen, "Queue")[1]
    assert len(seen.certificates) == 3
    assert [one.machine for one in seen.processes][:2] == ["edge-1", "edge-2"]
    assert seen.processes[1].problems == ["ledger: status 503", "stores: none answers"]


@pytest.mark.parametrize("viewer", [ANN, EVE])
def test_without_redis_nothing_is_guessed(viewer: Viewer) -> None:
    silent = replace(
        SNAPSHOT,
        checks=CHECKS | {"redis": helpful("Redis does not answer: TimeoutError")},
        samples=[*SNAPSHOT.samples, *[Sample(None, None)] * 5],
    )
    seen = overview_for(viewer, silent)
    assert (seen.accepted.per_second, seen.waiting) == (None, None)
    assert part(seen, "Redis")[0] == "trouble"
    for name in ("Proxies", "Workers", "Breakers", "Queue"):
        assert part(seen, name)[0] == "unknown"
    assert ("TimeoutError" in part(seen, "Redis")[1]) is (viewer is EVE)


def test_at_the_very_start_it_is_empty_and_says_so() -> None:
    seen = overview_for(ANN, Snapshot(NOW, CHECKS, [], [], None, "message_queue"))
    assert (seen.accepted.series, seen.waiting, seen.certificates) == ([], None, [])
    assert part(seen, "Workers") == ("trouble", "None is heard. Nothing is delivered.")
    assert part(seen, "Queue")[0] == "unknown"


def test_a_store_that_is_set_up_to_lose_is_said() -> None:
    unsafe = replace(SNAPSHOT, checks=CHECKS | {"safety": needed("redis: appendonly must be yes")})
    assert "appendonly" in part(overview_for(EVE, unsafe), "Safety of the stores")[1]
    assert "appendonly" not in part(overview_for(ANN, unsafe), "Safety of the stores")[1]


def test_what_many_domains_cost_is_summed_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks asks every other second, where messages are delivered and revocations learned:
    to add up ten minutes of a thousand domains takes a second."""
    names = [f"d{n}.example" for n in range(MANY)]
    flows = {(kind, name): Counted(2, 1.0) for kind in ("accepted", "failed") for name in names}
    queues = {f"{name}:messages": stats(1) for name in names}
    samples = [Sample(flows, queues) for _ in range(20)]
    survey = Survey([KnownDomain(name, f"{name}:messages", 500) for name in names], [])
    snapshot = replace(SNAPSHOT, samples=samples, survey=survey)
    first = overview_for(EVE, snapshot)
    added = []

    def add(one: Counted, _: Counted) -> Counted:
        added.append(one)
        return one

    monkeypatch.setattr(Counted, "__add__", add)
    assert overview_for(EVE, snapshot) == first
    assert added == []
    assert (first.accepted.count, first.failed.count) == (40 * MANY, 40 * MANY)
    assert first.waiting is not None
    assert first.waiting.series == [float(MANY)] * 20
    assert {(one.failed, one.undelivered) for one in first.domains} == {(40, 1)}


def test_what_still_waits_in_a_queue_that_was_left_counts() -> None:
    """For whose it was, and for who looks after all; for nobody else."""
    queues = QUEUES | {"a:old": stats(5, oldest_ms=9_000), "gone:messages": stats(3)}
    survey = Survey(DOMAINS, [], {"a:old": "a.example", "gone:messages": "gone.example"})
    snapshot = replace(SNAPSHOT, samples=[Sample(FLOWS, queues)], survey=survey)
    ann, bob, eve = (overview_for(who, snapshot).waiting for who in (ANN, BOB, EVE))
    assert ann is not None
    assert eve is not None
    before = overview_for(ANN, SNAPSHOT).waiting
    assert before is not None
    assert (ann.undelivered, ann.series) == (before.undelivered + 5, [before.undelivered + 5.0])
    assert bob is None
    assert eve.series == [float(sum(one.waiting for one in queues.values()))]


def test_what_is_paused_is_told_and_to_who_runs_the_place_by_whom_and_why() -> None:
    """A queue may be shared: why others paused it is not for a domain's administrator (I12)."""
    pauses = [
        Pause("queue", "message_queue", "a move", "shell:root", MOMENT),
        Pause("intake", "b.example", "a leak", "shell:root", MOMENT),
    ]
    snapshot = replace(SNAPSHOT, survey=Survey(DOMAINS, EXPIRING, pauses=pauses))
    of_eve, of_bob = overview_for(EVE, snapshot), overview_for(BOB, snapshot)
    words = "Paused by hand: message_queue since 2030-03-17 17:46 UTC by root at a shell (a move)."
    assert part(of_eve, "Queue") == ("trouble", words)
    assert "b.example since 2030-03-17 17:46 UTC by root" in part(of_eve, "Intake")[1]
    assert part(of_bob, "Queue") == ("trouble", "Paused by hand since 2030-03-17 17:46 UTC.")
    words = "Posts are answered 503 since 2030-03-17 17:46 UTC."
    assert part(of_bob, "Intake") == ("trouble", words)
    of_ann = overview_for(ANN, snapshot)
    assert part(of_ann, "Queue") == ("ok", "Keeps up.")
    assert "Intake" not in {one.name for one in of_ann.parts}
