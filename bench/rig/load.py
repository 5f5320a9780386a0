"""A load generator that is not the bottleneck: raw HTTP/1.1 over TLS on uvloop, one process.

Closed loop: each connection sends its next request when the last was answered. It reads only what
it must of an answer: the status and the length. How much of a core it used is reported, so that a
reader can judge whether it held the server up.
"""

import argparse
import asyncio
import json
import ssl
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvloop

BODY = {"sender_number": "+1234567890", "message_body": "x" * 120}


@dataclass(slots=True)
class Tally:
    """What all connections of a run have seen."""

    until: float
    latencies: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)


class Connection(asyncio.Protocol):
    """One keep-alive connection that posts until the time is over."""

    def __init__(self, request: bytes, tally: Tally, done: "asyncio.Future[None]", gap: float):
        self._request = request
        self._tally = tally
        self._done = done
        self._gap = gap
        self._buffer = b""
        self._sent = 0.0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        at = self._buffer.find(b"content-length: ") + 16
        length = int(self._buffer[at : self._buffer.index(b"\r\n", at)])
        if len(self._buffer) < end + 4 + length:
            return
        status = int(self._buffer[9:12])
        now = time.perf_counter()
        self._tally.statuses[status] = self._tally.statuses.get(status, 0) + 1
        self._tally.latencies.append(now - self._sent)
        self._buffer = b""
        if now >= self._tally.until:
            self._transport.close()
        elif self._gap:
            asyncio.get_running_loop().call_later(
                max(0.0, self._sent + self._gap - now), self._send
            )
        else:
            self._send()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None)

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request)


def request_bytes(host: str, path: str, body: bytes) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    context = ssl.create_default_context(cafile=arguments.ca)
    context.load_cert_chain(arguments.cert, arguments.key)
    document: Any = BODY if arguments.batch == 1 else [BODY] * arguments.batch
    path = "/api/v1/messages" + ("" if arguments.batch == 1 else "/batch")
    request = request_bytes("localhost", path, json.dumps(document).encode())
    loop = asyncio.get_running_loop()
    started, cpu = time.perf_counter(), time.process_time()
    tally = Tally(until=started + arguments.seconds)
    gap = arguments.connections / arguments.rate if arguments.rate else 0.0
    ends = []
    for _ in range(arguments.connections):
        done = loop.create_future()
        ends.append(done)
        await loop.create_connection(
            lambda done=done: Connection(request, tally, done, gap),  # type: ignore[misc]
            "127.0.0.1",
            arguments.port,
            ssl=context,
            server_hostname="localhost",
        )
    await asyncio.gather(*ends)
    seconds = time.perf_counter() - started
    return summary(tally, seconds, arguments.batch) | {
        "generator_core_share": round((time.process_time() - cpu) / seconds, 2)
    }


def summary(tally: Tally, seconds: float, batch: int) -> dict[str, Any]:
    ordered = sorted(tally.latencies)

    def percentile(share: float) -> float:
        return round(ordered[int(share * (len(ordered) - 1))] * 1000, 2) if ordered else 0.0

    accepted = tally.statuses.get(202, 0) + tally.statuses.get(200, 0) * batch
    return {
        "accepted": accepted,
        "accepted_per_second": round(accepted / seconds),
        "p50_ms": percentile(0.5),
        "p95_ms": percentile(0.95),
        "p99_ms": percentile(0.99),
        "statuses": tally.statuses,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.rig.load")
    parser.add_argument("--port", type=int, required=True)
    for name in ("ca", "cert", "key"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0: all it can")
    json.dump(uvloop.run(run(parser.parse_args())), sys.stdout)


if __name__ == "__main__":
    main()
