"""Keeping a view fresh: who is asked, what an answer proves, and that none holds another up."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from gatepost.errors import RevokedCertificate, Unavailable
from gatepost.service.revocation import Bell, Poller, poll_loop
from gatepost.service.revocation_sources import NoAnswer, Source
from gatepost.trust.revocation import Revocations
from gatepost.trust.revoked import NotBelieved, Revoked
from gatepost.trust.tls import read_trusted
from tests.factories import Pair
from tests.heard import HeardLog, until
from tests.hostile.starving import starve, watched
from tests.lists import Issuer


@pytest.fixture
def metrics_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of this test's own: a process makes these once."""
    monkeypatch.setattr("gatepost.service.revocation.RevocationMetrics", NoMetrics)


class NoMetrics:
    def observe(self, _view: Revoked) -> None:
        pass


class Told:
    """A source that says what a test wants."""

    name = "told"

    def __init__(self, state: Revocations) -> None:
        self.state = state
        self.asked: list[int | None] = []
        self.before: Callable[[], None] = lambda: None
        self.away = False

    async def ask(self, seen: int | None) -> Revocations | None:
        self.asked.append(seen)
        self.before()
        if self.away:
            raise NoAnswer("away")
        return None if self.state.number == seen else self.state


class Hanging(Told):
    async def ask(self, seen: int | None) -> Revocations | None:
        self.asked.append(seen)
        await asyncio.sleep(3600)
        return None


def confirmed(view: Revoked) -> bool:
    return view.problem is None


async def test_a_source_is_asked_for_all_once_and_then_for_news(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    kept: list[Revocations] = []
    first, second = issuer.state(), issuer.state(pair)
    source = Told(first)
    poller = Poller(source, view, kept.append)
    assert await poller.poll()
    assert not await poller.poll()
    assert confirmed(view)
    view.check(pair.certificate)
    source.state = second
    assert await poller.poll()
    with pytest.raises(RevokedCertificate):
        view.check(pair.certificate)
    assert source.asked == [None, first.number, first.number]
    assert kept == [first, second]


async def test_who_is_behind_confirms_nothing(view: Revoked, issuer: Issuer, pair: Pair) -> None:
    """Redis was away at a revocation and still has the state before it; the main server is down."""
    old, new = issuer.state(), issuer.state(pair)
    redis, main_server = Told(old), Told(old)
    pollers = [Poller(redis, view), Poller(main_server, view)]
    for poller in pollers:
        await poller.poll()
    main_server.state = new
    await pollers[1].poll()
    confirmed_at = view._confirmed
    for _ in range(3):
        with pytest.raises(NotBelieved, match="older"):
            await pollers[0].poll()
    assert view._confirmed == confirmed_at
    redis.state = new
    await pollers[0].poll()
    assert view._confirmed > confirmed_at


async def test_what_another_source_has_brought_meanwhile_is_not_confirmed_by_the_past(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    """Its answer "nothing new" was on its way when the view moved on."""
    old, new = issuer.state(), issuer.state(pair)
    source = Told(old)
    poller = Poller(source, view)
    await poller.poll()
    before = view._confirmed
    source.before = lambda: view.learn(new)
    await poller.poll()
    assert view._confirmed == before


async def test_a_forged_number_does_not_hide_what_comes_later(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    """Numbers are only a hint of each source about itself; nobody has signed them."""
    state = issuer.state()
    forged = Poller(Told(Revocations(10**15, state.crls)), view)
    honest = Told(state)
    poller = Poller(honest, view)
    await forged.poll()
    await poller.poll()
    honest.state = issuer.state(pair)
    await poller.poll()
    with pytest.raises(RevokedCertificate):
        view.check(pair.certificate)


async def test_a_view_counts_from_when_its_source_was_asked(
    view: Revoked, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Told(issuer.state())
    source.before = lambda: time.sleep(0.2)
    asked = time.monotonic()
    await Poller(source, view).poll()
    assert asked <= view._confirmed < asked + 0.1


class Watched:
    """Loops over these sources, as a process runs them."""

    def __init__(self, view: Revoked, *sources: Told) -> None:
        self.bell, self.log = Bell(), HeardLog()
        self._stop = asyncio.Event()
        self._loops = [
            poll_loop(self._stop, self.log, Poller(one, view), view, self.bell) for one in sources
        ]

    async def __aenter__(self) -> "Watched":
        self._tasks = [asyncio.create_task(loop) for loop in self._loops]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        self.bell.ring()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def test_a_source_that_hangs_holds_no_other_up(view: Revoked, issuer: Issuer) -> None:
    fine = Told(issuer.state())
    async with Watched(view, Hanging(issuer.state()), fine):
        await until(lambda: len(fine.asked) >= 4)
        assert confirmed(view)


async def test_a_ring_has_them_asked_at_once(
    view: Revoked, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatepost.service.revocation.POLL_SECONDS", 3600)
    source = Told(issuer.state())
    async with Watched(view, source) as watched:
        for count in range(1, 5):
            await until(lambda count=count: len(source.asked) == count)  # type: ignore[misc]
            watched.bell.ring()


async def test_who_rings_while_one_is_being_asked_is_heard(
    view: Revoked, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatepost.service.revocation.POLL_SECONDS", 3600)
    source = Told(issuer.state())
    watched = Watched(view, source)
    source.before = lambda: watched.bell.ring() if len(source.asked) == 1 else None
    async with watched:
        await until(lambda: len(source.asked) == 2)


async def test_without_an_answer_the_view_grows_old_and_says_so_once(
    view: Revoked, issuer: Issuer, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatepost.service.revocation.POLL_SECONDS", 0.02)
    monkeypatch.setattr("gatepost.trust.revoked.LIMIT_SECONDS", 0.1)
    source = Told(issuer.state())
    async with Watched(view, source) as watched:
        await until(lambda: confirmed(view))
        source.away = True
        await until(lambda: not confirmed(view))
        with pytest.raises(Unavailable):
            view.check(pair.certificate)
        source.away = False
        await until(lambda: confirmed(view))
    assert watched.log.events() == ["revocations.learned"] + ["revocations.source"] * 2


async def test_while_a_process_has_time_for_nothing_its_view_is_confirmed(
    view: Revoked, issuer: Issuer, metrics_once: None
) -> None:
    """What is asked in the loop's own time isn't when all of that is taken: 503 to everybody."""
    source = Told(issuer.state())

    async def opened(_: AsyncExitStack) -> Source:
        return source

    async with watched(HeardLog(), view, None, [opened]):
        starved = starve(view, 30.0, lambda confirmed: confirmed >= 5)
    assert starved.confirmed >= 5


async def test_what_is_revoked_while_a_process_has_time_for_nothing_is_refused_at_once(
    view: Revoked, issuer: Issuer, pair: Pair, metrics_once: None
) -> None:
    """And what it has open is cut by the loop whose it is, as soon as that can."""
    source, cuts = Told(issuer.state()), list[bool]()
    home = threading.get_ident()

    async def opened(_: AsyncExitStack) -> Source:
        return source

    view.when_revoked(lambda _: cuts.append(threading.get_ident() == home))
    async with watched(HeardLog(), view, None, [opened]):
        await until(lambda: cuts == [True])
        source.state = issuer.state(pair)
        starve(view, 30.0, lambda _: view.is_revoked(pair.certificate))
        with pytest.raises(RevokedCertificate):
            view.check(pair.certificate)
        assert cuts == [True]
        await until(lambda: cuts == [True, True])


async def test_whom_we_come_to_trust_while_a_list_is_read_is_asked_for_again(
    view: Revoked, issuer: Issuer
) -> None:
    source = Told(issuer.state())
    poller, read = Poller(source, view), view.read

    def slow(state: Revocations) -> object:
        lists = read(state)
        view.trust(read_trusted(issuer.pins))
        return lists

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "read", slow)
        await poller.poll()
    await poller.poll()
    assert source.asked == [None, None]


async def test_a_view_that_can_not_be_kept_fresh_ends_the_process(
    view: Revoked, metrics_once: None
) -> None:
    """Loudly, as whatever dies does: nobody would be let in."""

    async def opened(_: AsyncExitStack) -> Source:
        raise ValueError("no source")

    with pytest.raises(ExceptionGroup) as ended:
        async with watched(HeardLog(), view, None, [opened]):
            pass
    assert ended.group_contains(ValueError, match="no source")
