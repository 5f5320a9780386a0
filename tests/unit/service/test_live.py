"""The connections of a port: cut by serial, and none of which nobody knows whose it is."""

import asyncio
from typing import Any

import pytest
import uvicorn
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.service.http import Live, MutualTls, State
from tests.factories import Pair, Pki, identity
from tests.heard import HeardLog


class Transport:
    """What TLS hands over, with this certificate."""

    def __init__(self, der: bytes) -> None:
        self._der = der
        self.aborted = False

    def get_extra_info(self, name: str, _default: Any = None) -> Any:
        return self if name == "ssl_object" else None

    def getpeercert(self, binary_form: bool) -> bytes:
        assert binary_form
        return self._der

    def abort(self) -> None:
        self.aborted = True


async def no_app(_scope: Any, _receive: Any, _send: Any) -> None:
    pass


def connect(live: Live, transport: Transport) -> Transport:
    config = uvicorn.Config(no_app, lifespan="off", log_config=None)
    protocol = MutualTls(config, State(asyncio.Event(), live), {})
    given: Any = transport
    try:
        protocol.connection_made(given)
    finally:
        if protocol.timeout_keep_alive_task:
            protocol.timeout_keep_alive_task.cancel()
    return transport


def showing(pair: Pair) -> Transport:
    return Transport(pair.x509.public_bytes(Encoding.DER))


async def test_those_of_one_certificate_are_cut_and_no_others(pki: Pki) -> None:
    log = HeardLog()
    live = Live(log)
    out, stays = pki.issue(identity()), pki.issue(identity())
    cut = [connect(live, showing(out)) for _ in range(3)]
    kept = [connect(live, showing(stays)) for _ in range(2)]
    live.cut(lambda _: False)
    assert not any(one.aborted for one in cut + kept)
    live.cut(lambda one: one.fingerprint == out.certificate.fingerprint)
    assert all(one.aborted for one in cut)
    assert not any(one.aborted for one in kept)
    [event] = log.of("connections.cut")
    assert (event["connections"], event["certificates"]) == (3, 1)


async def test_a_certificate_that_can_not_be_read_is_hung_up_on() -> None:
    transport = Transport(b"\x30\x00")
    with pytest.raises(ValueError, match=r"(?i)asn.?1"):
        connect(Live(HeardLog()), transport)
    assert transport.aborted
