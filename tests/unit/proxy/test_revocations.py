"""What a proxy keeps of the lists of revoked certificates, for when it starts alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatepost.clock import Clock
from gatepost.errors import RevokedCertificate, Unavailable
from gatepost.trust.revocation import encode_revocations
from gatepost.trust.revoked import Revoked, open_view
from proxy.revocations import RevocationsCache
from tests.factories import Pair, identity
from tests.heard import HeardLog, until
from tests.lists import Issuer


@pytest.fixture
def log() -> HeardLog:
    return HeardLog()


@asynccontextmanager
async def running(cache: RevocationsCache) -> AsyncIterator[None]:
    stop = asyncio.Event()
    loop = asyncio.create_task(cache.loop(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(loop, 10)


async def test_who_starts_alone_knows_what_was_revoked_and_lets_nobody_in(
    tmp_path: Path, log: HeardLog, issuer: Issuer, pair: Pair, view: Revoked
) -> None:
    folder = tmp_path / "cache"
    cache = RevocationsCache(folder, log)
    async with running(cache):
        first, last = issuer.state(), issuer.state(pair)
        cache.keep(first)
        cache.keep(last)
        file = folder / "revocations.msgpack"
        await until(lambda: file.exists() and file.read_bytes() == encode_revocations(last))
    RevocationsCache(folder, log).load(view)
    with pytest.raises(RevokedCertificate):
        view.check(pair.certificate)
    with pytest.raises(Unavailable):
        view.check(issuer.pki.issue(identity()).certificate)
    assert log.heard == []


async def test_what_is_kept_is_believed_no_more_than_what_is_heard(
    tmp_path: Path, log: HeardLog, issuer: Issuer, pair: Pair
) -> None:
    stranger, file = Issuer(tmp_path / "stranger"), tmp_path / "revocations.msgpack"
    for kept in (b"", b"nonsense", encode_revocations(stranger.state(pair))):
        file.write_bytes(kept)
        view = open_view(issuer.pins, Clock())
        RevocationsCache(tmp_path, log).load(view)
        assert view.version == 0


async def test_a_disk_that_will_not_do_is_said_and_ends_nothing(
    tmp_path: Path, log: HeardLog, issuer: Issuer
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("where a folder should be")
    cache = RevocationsCache(blocked, log)
    async with running(cache):
        for number in (1, 2):
            cache.keep(issuer.state())
            await until(lambda number=number: len(log.heard) == number)  # type: ignore[misc]
    assert set(log.events()) == {"revocations.not_kept"}
