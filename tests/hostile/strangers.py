"""The parts of an attack that begin below a well-formed request: hellos, raw bytes, bodies that are
made to be expensive, and what is read without any port."""

import asyncio
import gc
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from urllib.parse import urlsplit

import httpx

from gatepost.trust.identity import Role
from proxy.endpoints import BATCH, MESSAGES
from tests.hostile import readers
from tests.hostile.bodies import Body, batches, mutants, single
from tests.hostile.exchange import HUNG_UP, Answers, Connection, Peer, each, request_bytes
from tests.hostile.hellos import measure
from tests.hostile.parts import Part
from tests.hostile.peers import Attacked
from tests.hostile.requests import Hostile, Target, hostile_requests
from tests.hostile.stalls import inherent_stall
from tests.unit.proxy.caller import Caller

SILENCE_SECONDS = 0.25
"""Of a request that never ends there is nothing to wait for."""
HELLO_SECONDS = 15.0
PORTS = ("proxy", "main_server", "portal")
READING = Target(b"GET", b"/login")


async def speak_oddly(attacked: Attacked, seed: int, count: int) -> Part:
    """Send raw bytes to each port, each on a connection of its own."""
    answers, share = Answers(), count // 4
    peers = (
        (attacked.peer("proxy", attacked.hostile), Target()),
        (attacked.peer("main_server", attacked.roles[Role.PROXY]), Target()),
        (attacked.browser(), READING),
        (attacked.pki(), Target(b"GET", b"/crl")),
    )
    for number, (peer, target) in enumerate(peers):
        some = islice(hostile_requests(seed + number, target), share)
        await _speak(peer, some, answers)
    return Part("raw bytes at each port", answers)


async def _speak(peer: Peer, some: Iterator[Hostile], answers: Answers) -> None:
    async def work() -> None:
        for one in some:
            answered = await _answered(peer, one.raw)
            answers.note(int(answered[9:12]) if answered[9:12].isdigit() else HUNG_UP)
            if wrong := one.verdict(answered):
                answers.wrong.append(f"{wrong}: {one.raw[:200]!r}")

    async with asyncio.TaskGroup() as group:
        for _ in range(32):
            group.create_task(work())


async def _answered(peer: Peer, raw: bytes) -> bytes:
    """Return all that comes until the other side hangs up, or has been silent for a while."""
    answered = b""
    with suppress(OSError, TimeoutError):
        reader, writer = await asyncio.open_connection(peer.host, peer.port, ssl=peer.context)
        try:
            writer.write(raw)
            while piece := await asyncio.wait_for(reader.read(65536), SILENCE_SECONDS):
                answered += piece
        finally:
            writer.transport.abort()
    return answered


async def flood_with_hellos(attacked: Attacked) -> Part:
    """Greet each TLS port 25 times a second with what was costly once, while somebody connects."""
    part = Part("25 hellos a second for ffdhe8192")
    for service in PORTS:
        peer = attacked.peer(service, attacked.good)
        parts = urlsplit(attacked.site.url(service))
        url = f"https://{parts.netloc}/"

        def ask(url: str = url, peer: Peer = peer) -> None:
            with suppress(httpx.HTTPError):
                httpx.get(url, verify=peer.context or False, trust_env=False, timeout=20)

        address = (peer.host, peer.port)
        found = await asyncio.to_thread(measure, address, ask, 25.0, HELLO_SECONDS)
        part.unanswered += found.hellos
        part.figures[f"{service}: a new connection's p99 with them against without"] = (
            f"{found.flooded_p99_ms:.0f} / {found.calm_p99_ms:.0f} ms = {found.ratio:.2f}"
        )
    return part


async def send_bodies(attacked: Attacked, seed: int, count: int) -> Part:
    """Send bodies that are expensive by their make, and so many that are damaged at random."""
    answers = Answers()

    async def send(connection: Connection, one: Body) -> None:
        path = (
            BATCH
            if len(one.content) > 16 * 1024 or one.media_type.endswith(b"ndjson")
            else MESSAGES
        )
        headers = {"content-type": one.media_type.decode()}
        status = await connection.ask(request_bytes("POST", path, headers, one.content))
        answers.note(status)
        if status >= 500 and status != 503:
            answers.wrong.append(f"{status}: {one.shape} {one.content[:200]!r}")

    peer = attacked.peer("proxy", attacked.hostile)
    await each(peer, chain(single(seed), batches(seed)), send, connections=1)
    await each(peer, islice(mutants(seed), count), send)
    return Part("bodies made to be expensive, and damaged ones", answers)


async def measure_stalls(seed: int) -> Part:
    """Give a proxy's own application each expensive body, and look how long it holds the loop."""
    app = Caller(granted=10**9).app()
    part, longest = Part("the same within one process"), (0.0, "")
    gc.freeze()
    for path, bodies in ((MESSAGES, single(seed)), (BATCH, batches(seed))):
        for body in bodies:
            found = await inherent_stall(app, _scope(path, body), body.content)
            part.answers.note(found.status)
            longest = max(longest, (found.seconds, body.shape))
    gc.unfreeze()
    part.figures["longest stall of the loop"] = f"{longest[0] * 1000:.0f} ms ({longest[1]})"
    return part


def _scope(path: str, body: Body) -> dict[str, object]:
    headers: Iterable[tuple[bytes, bytes]] = [
        (b"content-type", body.media_type),
        (b"host", b"127.0.0.1"),
    ]
    return {"type": "http", "method": "POST", "path": path, "headers": headers}


async def read_everything(seed: int, count: int) -> Part:
    """Give each reader of what comes from outside a process so much of what it can't read."""
    done = await asyncio.to_thread(readers.run, seed, count)
    part = Part("readers, within one process")
    part.unanswered = done.inputs
    part.answers.wrong += [f"{one.reader}: {one.error} at {one.where}" for one in done.slips]
    return part
