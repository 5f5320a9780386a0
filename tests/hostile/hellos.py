"""First words of a handshake that strangers can send: which groups they offer, what a port answers,
and what a flood of them does to somebody who means well."""

import asyncio
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FFDHE = {0x0100: 256, 0x0101: 384, 0x0102: 512, 0x0103: 768, 0x0104: 1024}
"""Groups of finite fields, and how many bytes a share of each has."""
P256, X25519 = 0x0017, 0x001D
ALERT, HANDSHAKE = 21, 22
HANDSHAKE_FAILURE = 40
Address = tuple[str, int]


def hello(groups: Sequence[int], shares: Sequence[int], seed: int = 0) -> bytes:
    """A ClientHello of TLS 1.3 that offers these groups, with a key's share for some of them."""
    dice = Random(seed)
    offered = struct.pack(f"!{len(groups)}H", *groups)
    keys = [(group, share_of(group, dice)) for group in shares]
    entries = b"".join(struct.pack("!HH", group, len(key)) + key for group, key in keys)
    extensions = b"".join(
        struct.pack("!HH", number, len(data)) + data
        for number, data in (
            (43, b"\x02\x03\x04"),
            (10, struct.pack("!H", len(offered)) + offered),
            (13, b"\x00\x06\x04\x03\x08\x04\x08\x07"),
            (51, struct.pack("!H", len(entries)) + entries),
        )
    )
    body = b"\x03\x03" + dice.randbytes(32) + b"\x00\x00\x02\x13\x01\x01\x00"
    body += struct.pack("!H", len(extensions)) + extensions
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + struct.pack("!H", len(message)) + message


def share_of(group: int, dice: Random) -> bytes:
    """A public key that whoever is asked can't tell from an honest one."""
    if group in FFDHE:
        return b"\x7f" + dice.randbytes(FFDHE[group] - 1)
    if group == X25519:
        key = x25519.X25519PrivateKey.from_private_bytes(dice.randbytes(32))
        return key.public_key().public_bytes_raw()
    point = ec.derive_private_key(dice.getrandbits(200) + 1, ec.SECP256R1()).public_key()
    return point.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def costly(seed: int = 0) -> bytes:
    """The one that costs an OpenSSL which isn't told better three hundred times a good one."""
    return hello([0x0104], [0x0104], seed)


def first_record(address: Address, words: bytes, timeout: float = 20) -> tuple[int, bytes]:
    """The type of the first record that comes back, and what is in it; (0, b"") if none does."""
    with socket.create_connection(address, timeout) as plain:
        plain.sendall(words)
        data = b""
        while len(data) < 5 or len(data) < 5 + int.from_bytes(data[3:5], "big"):
            piece = plain.recv(65536)
            if not piece:
                return 0, b""
            data += piece
    return data[0], data[5 : 5 + int.from_bytes(data[3:5], "big")]


def cpu_of(context: ssl.SSLContext, words: bytes, times: int = 20) -> float:
    """Seconds of this thread's CPU that a server of this context spends on these first words: the
    least of some tries, which other load on the machine doesn't make more."""

    def once() -> float:
        incoming = ssl.MemoryBIO()
        incoming.write(words)
        side = context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True)
        started = time.thread_time()
        with suppress(ssl.SSLError):
            side.do_handshake()
        return time.thread_time() - started

    return min(once() for _ in range(times))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a client who means well waits for a connection and an answer, in milliseconds."""

    calm_p99_ms: float
    flooded_p99_ms: float
    hellos: int
    """How many came in meanwhile."""

    @property
    def ratio(self) -> float:
        return self.flooded_p99_ms / self.calm_p99_ms


def measure(
    address: Address, ask: Callable[[], object], per_second: float = 25, seconds: float = 20
) -> Figures:
    """`ask` again and again for so long, and once more while a stranger sends costly hellos; it
    makes a connection of its own each time."""
    calm = _p99(ask, seconds)
    stop = threading.Event()
    flood = Flood(address, per_second, stop)
    flood.start()
    try:
        flooded = _p99(ask, seconds)
    finally:
        stop.set()
        flood.join()
    return Figures(calm, flooded, flood.sent)


class Flood(threading.Thread):
    """A stranger who sends one costly hello after the other, and waits for no answer."""

    def __init__(self, address: Address, per_second: float, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._gap = 1 / per_second
        self._stop_told = stop
        self.sent = 0

    def run(self) -> None:
        asyncio.run(self._pour())

    async def _pour(self) -> None:
        under_way: set[asyncio.Task[None]] = set()
        while not self._stop_told.is_set():
            one = asyncio.create_task(self._send(costly(self.sent)))
            under_way.add(one)
            one.add_done_callback(under_way.discard)
            self.sent += 1
            await asyncio.sleep(self._gap)
        for one in under_way:
            one.cancel()

    async def _send(self, words: bytes) -> None:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(*self._address)
            writer.write(words)
            await reader.read(64)
            writer.close()


def _p99(ask: Callable[[], object], seconds: float) -> float:
    took: list[float] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or len(took) < 100:
        started = time.perf_counter()
        with suppress(OSError):  # who was not answered has waited so long all the same
            ask()
        took.append((time.perf_counter() - started) * 1000)
    return sorted(took)[int(len(took) * 0.99)]
