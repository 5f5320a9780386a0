"""Messages that no proxy would send: sealed here, and put into Redis or told to the main server."""

import asyncio
import json
import time
from typing import Any

from gatepost.ids import id_ms
from gatepost.queue import Entry, Queue, connect
from gatepost.trust.sealing import Sealer
from gatepost.wire.bundle import decode_bundle
from gatepost.wire.content import Content, encode_content
from gatepost.wire.envelope import Envelope, encode
from tests.acceptance.two_stores.rig import QUEUE, Rig
from tests.factories import BODY, CLIENT_ID, DOMAIN, NUMBER, changed, ids


def envelope(rig: Rig, **given: Any) -> dict[str, Any]:
    """One that the edge could have made, as JSON."""
    found: dict[str, Any] = json.loads(encode(_sealed(rig, **given)))
    return found


def enqueue_unknown(rig: Rig) -> str:
    """A good message, which the ledger doesn't know."""
    return _enqueue(rig, _sealed(rig))


def enqueue_expired(rig: Rig) -> str:
    """A message whose time is over, which the ledger doesn't know."""
    return _enqueue(rig, _sealed(rig, expires_at=int(time.time() * 1000) - 1))


def enqueue_unreadable(rig: Rig) -> str:
    """A message that nobody can open, which the ledger doesn't know."""
    return _enqueue(rig, changed(_sealed(rig), sealed=b"x" * 200))


def _sealed(rig: Rig, **given: Any) -> Envelope:
    bundle = decode_bundle((rig.place.folder / "proxy" / "bundle.json").read_bytes())
    message_id = ids.new()
    content = encode_content(Content(NUMBER, BODY))
    return Envelope(
        message_id=message_id,
        client_id=CLIENT_ID,
        domain=DOMAIN,
        queue=QUEUE,
        cert_fingerprint="ab" * 32,
        queued_at=id_ms(message_id),
        expires_at=given.get("expires_at", id_ms(message_id) + 3_600_000),
        sealed=Sealer().seal(bundle.sealing_key, message_id, CLIENT_ID, DOMAIN, content),
        request_id="r",
        traceparent="t",
    )


def _enqueue(rig: Rig, made: Envelope) -> str:
    entry = Entry(id=made.message_id.bytes, payload=encode(made), expires_at=made.expires_at)

    async def enqueue() -> None:
        async with connect(rig.redis_server.url()) as redis:
            await Queue(redis, QUEUE).enqueue([entry])

    asyncio.run(enqueue())
    return str(made.message_id)
