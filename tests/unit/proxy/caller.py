"""A client that posts to one process of the proxy, whose commit and rate do what a test says."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx

from gatepost.errors import KeyReused, OutcomeUnknown, RateLimited, StillUnderWay, Unavailable
from gatepost.logs import Log
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import Context, RequestMetrics, Requests
from gatepost.wire.bundle import KnownClient
from proxy.batch import accept_batch
from proxy.depths import Depths
from proxy.edge import Edge
from proxy.endpoints import create_app
from proxy.intake import Accepted
from proxy.limits import Grant, Use
from proxy.senders import Senders
from proxy.settings import Validation
from tests.factories import NUMBER, bundle, identity, ids, known_client
from tests.heard import HeardLog

JSON, NDJSON = b"application/json", b"application/x-ndjson"
_ERRORS = (KeyReused, StillUnderWay, Unavailable, OutcomeUnknown, KeyError)
RAISES: dict[str, type[Exception]] = {one.__name__: one for one in _ERRORS}
RETRY_AFTER = 3
_numbers = count()


@dataclass
class HeldCertificate:
    """A certificate as the handshake left it."""

    fingerprint: str
    caller: Any


class Intake:
    """Accepts each message, or raises what its body says; before that it may do something."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str | None]] = []
        self.before: dict[str, Callable[[], None]] = {}

    async def accept(
        self, submission: Any, _client: KnownClient, key: str | None, *_: Any
    ) -> tuple[Accepted, bool]:
        self.before.get(submission.message_body, bool)()
        if error := RAISES.get(submission.message_body):
            raise error()
        self.taken.append((submission.message_body, key))
        return Accepted(ids.new(), "queued", "2026-01-01T00:00:00.000Z", "full"), False


class Limits:
    """Grants so many."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    def granted(self, client: KnownClient, _use: Use = Use.SENDING) -> Grant:
        return Grant(client.rate_per_second, client.burst)

    def left(self, _client: KnownClient) -> int:
        return self._tokens

    def at_most(self, client: KnownClient, count: int) -> int:
        return min(count, client.burst)

    async def take(self, _client: KnownClient, count: int = 1, _use: Use = Use.SENDING) -> int:
        if self._tokens < count:
            raise RateLimited(retry_after=RETRY_AFTER)
        self._tokens -= count
        return self._tokens


class NobodyRevoked:
    def check(self, _certificate: Any, *, is_ours: bool) -> None:
        pass


class Caller:
    def __init__(self, granted: int = 10_000) -> None:
        senders, client = Senders(), known_client()
        senders.learn(bundle(client))
        self.intake, self.depths = Intake(), Depths()
        parts: Any = (self.intake, Limits(granted), NobodyRevoked())
        self.edge = Edge(
            revoked=parts[2],
            senders=senders,
            depths=self.depths,
            limits=parts[1],
            rules=Validation(),
            intake=parts[0],
            statuses=None,  # type: ignore[arg-type]
            renewals=None,  # type: ignore[arg-type]
        )
        self.context = Context("request-1", "trace-1")
        self._certificate = HeldCertificate(client.fingerprint, identity())

    async def post_batch(self, body: bytes, media_type: bytes = JSON) -> list[dict[str, Any]]:
        """The items of the answer; raises what the whole batch was refused with."""
        scope = {
            "headers": [(b"content-type", media_type)],
            "gatepost.context": self.context,
            CERTIFICATE: self._certificate,
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            sent.append(message)

        await accept_batch(self.edge, scope, receive, send)
        assert sent[0]["status"] == 200
        items: list[dict[str, Any]] = json.loads(sent[1]["body"])["items"]
        return items

    async def ask(
        self, path: str, body: bytes, log: Log | None = None, media_type: bytes = JSON
    ) -> httpx.Response:
        """What a post to a path is answered, with everything that surrounds a request."""
        transport = httpx.ASGITransport(self.app(log))
        async with httpx.AsyncClient(transport=transport, base_url="https://proxy") as client:
            headers = {b"content-type": media_type, b"host": b"127.0.0.1"}
            return await client.post(path, content=body, headers=headers)

    def app(self, log: Log | None = None) -> Any:
        """The port of this process, where all who call show this client's certificate."""
        metrics = RequestMetrics(f"proxy_unit{next(_numbers)}")
        requests = Requests(create_app(self.edge), log or HeardLog(), metrics)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await requests(scope | {CERTIFICATE: self._certificate}, receive, send)

        return app


def message(body: str = "hello", **more: Any) -> dict[str, Any]:
    return {"sender_number": NUMBER, "message_body": body, **more}
