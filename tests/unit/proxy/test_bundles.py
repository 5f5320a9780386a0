"""The bundle's cache and its loop: a proxy knows its clients from the last time, and never half."""

import asyncio
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from gatepost.clock import Clock
from gatepost.errors import ConfigurationError, Unavailable, UnknownCertificate
from gatepost.service.redis import RedisWatch
from gatepost.wire.bundle import TIME_HEADER, Bundle
from proxy.bundles import BundleCache, bundle_loop
from proxy.senders import Senders
from tests.factories import Pki, bundle, identity, known_client
from tests.heard import HeardLog, until

BUNDLE = bundle(known_client())
DATA = msgspec.json.encode(BUNDLE)


def test_what_was_written_is_read_and_nobody_else_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "for it"
    cache = BundleCache(folder)
    assert cache.read() is None
    cache.write(DATA)
    assert cache.read() == BUNDLE
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("kept", [b"", b"{", DATA[:-10], b'{"clients": []}', b"\0" * 100])
def test_what_can_not_be_read_is_as_if_there_were_none(tmp_path: Path, kept: bytes) -> None:
    (tmp_path / "bundle.json").write_bytes(kept)
    assert BundleCache(tmp_path).read() is None


def test_a_write_that_fails_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = BundleCache(tmp_path)
    cache.write(DATA)

    def full(_path: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ConfigurationError, match="space"):
        cache.write(b"{}")
    assert cache.read() == BUNDLE


class Edge:
    """A proxy's loop for the bundle, and the main server that it asks."""

    def __init__(self, folder: Path) -> None:
        self.senders, self.log, self.clock = Senders(), HeardLog(), Clock()
        self.watch = RedisWatch(problem=None)
        self.cache = BundleCache(folder)
        self.answer: Callable[[httpx.Request], httpx.Response] = serve(BUNDLE)
        self.asked: list[str] = []
        self.heard = 0
        self._stop = asyncio.Event()

    async def __aenter__(self) -> "Edge":
        client = httpx.AsyncClient(
            transport=httpx.MockTransport(self._serve), base_url="https://main"
        )
        self._task = asyncio.create_task(
            bundle_loop(
                self._stop,
                self.log,
                client,
                self.senders,
                self.cache,
                self.watch,
                self.clock,
                self._heard,
            )
        )
        return self

    async def __aexit__(self, *_error: Any) -> None:
        self._stop.set()
        await self._task

    def _heard(self) -> None:
        self.heard += 1

    def _serve(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.headers["if-none-match"])
        return self.answer(request)


def serve(one: Bundle, etag: str = '"one"', **headers: str) -> Any:
    def answer(request: httpx.Request) -> httpx.Response:
        known = request.headers["if-none-match"] == etag
        content = b"" if known else msgspec.json.encode(one)
        return httpx.Response(
            304 if known else 200, content=content, headers={"etag": etag, **headers}
        )

    return answer


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.bundles.REFRESH_SECONDS", 0.01)


async def test_what_is_learned_is_kept_and_asked_for_by_its_etag(tmp_path: Path, pki: Pki) -> None:
    async with Edge(tmp_path) as edge:
        await until(lambda: len(edge.asked) > 3)
        assert edge.senders.bundle == BUNDLE
        assert edge.asked[0] == ""
        assert set(edge.asked[1:]) == {'"one"'}
        assert edge.log.events() == ["bundle.learned"]
        assert edge.heard >= 3
        with pytest.raises(UnknownCertificate):  # not "can't tell"
            edge.senders.identify(pki.issue(identity()).certificate)
        assert edge.cache.read() == BUNDLE


async def test_a_change_is_learned(tmp_path: Path) -> None:
    changed = bundle(known_client(rate_per_second=7))
    async with Edge(tmp_path) as edge:
        await until(lambda: edge.senders.problem is None)
        edge.answer = serve(changed, '"two"')
        await until(lambda: edge.senders.bundle == changed)
        await until(lambda: edge.cache.read() == changed)


def away(_request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("…")


BAD: list[Any] = [
    away,
    lambda _request: httpx.Response(500),
    lambda _request: httpx.Response(403),
    lambda _request: httpx.Response(200, content=b"{", headers={"etag": '"x"'}),
    lambda _request: httpx.Response(200, content=b'{"clients": []}', headers={"etag": '"x"'}),
]


@pytest.mark.parametrize("bad", BAD)
async def test_a_proxy_starts_with_what_was_kept(tmp_path: Path, bad: Any) -> None:
    BundleCache(tmp_path).write(DATA)
    edge = Edge(tmp_path)
    edge.answer = bad
    async with edge:
        await until(lambda: len(edge.asked) > 3)
        assert edge.senders.bundle == BUNDLE
        assert edge.log.events() == ["bundle.missed"]
        assert edge.heard == 0
        assert edge.cache.read() == BUNDLE
        changed = bundle(known_client(burst=7))
        edge.answer = serve(changed)
        await until(lambda: edge.senders.bundle == changed)


async def test_without_any_it_knows_nobody(tmp_path: Path) -> None:
    edge = Edge(tmp_path)
    edge.answer = away
    async with edge:
        await until(lambda: edge.asked)
        assert edge.senders.problem
        with pytest.raises(Unavailable):
            _ = edge.senders.bundle


async def test_what_could_not_be_kept_is_fetched_again(tmp_path: Path) -> None:
    """A disk that was full for a moment must not leave the next start with nothing."""
    edge = Edge(tmp_path)
    (tmp_path / "bundle.json").mkdir()
    async with edge:
        await until(lambda: len(edge.asked) > 2)
        assert edge.senders.bundle == BUNDLE
        (tmp_path / "bundle.json").rmdir()
        await until(lambda: edge.cache.read() == BUNDLE)


async def test_the_main_servers_time_counts_while_redis_is_silent(tmp_path: Path) -> None:
    ahead = Clock().now_ms() + 60_000
    edge = Edge(tmp_path)
    edge.clock.correct(edge.clock.now_ms(), took_ms=0)
    edge.answer = serve(BUNDLE, **{TIME_HEADER: str(ahead)})
    async with edge:
        await until(lambda: len(edge.asked) > 3)
        assert edge.clock.note is None
        edge.watch.problem = "away"
        await until(lambda: edge.clock.note)
        assert abs(edge.clock.now_ms() - ahead) < 10_000


async def test_the_main_servers_time_counts_until_redis_has_said_its_own(tmp_path: Path) -> None:
    ahead = Clock().now_ms() + 3_600_000
    edge = Edge(tmp_path)
    edge.answer = serve(BUNDLE, **{TIME_HEADER: str(ahead)})
    assert not edge.clock.known
    async with edge:
        await until(lambda: edge.clock.known)
        assert abs(edge.clock.now_ms() - ahead) < 10_000
