"""The connections of a port: cut by serial, and none of which nobody knows whose it is."""

import asyncio
from typing import Any

import uvicorn
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.service.http import MutualTls
from gatepost.service.live import Live, State
from gatepost.trust.identity import Certificate
from gatepost.trust.revoked import Revoked
from tests.factories import Pair, Pki, identity
from tests.forging import odd_certificates, read_signer
from tests.heard import HeardLog
from tests.lists import Issuer


class Transport:
    """What TLS hands over, with this certificate."""

    def __init__(self, der: bytes) -> None:
        self._der = der
        self.aborted = False

    def get_extra_info(self, name: str, _default: Any = None) -> Any:
        return self if name == "ssl_object" else None

    def set_write_buffer_limits(self, high: int) -> None:
        pass

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


async def test_one_that_can_not_be_judged_is_cut_alone(
    pki: Pki, issuer: Issuer, view: Revoked
) -> None:
    """At the next revocation, which would end the process if it raised."""
    live, signer = Live(HeardLog()), read_signer(pki.ca.parent, "intermediate")
    odd = [connect(live, Transport(der)) for der in odd_certificates(signer).values()]
    odd.append(connect(live, Transport(b"\x30\x00")))
    good = connect(live, showing(pki.issue(identity())))
    view.when_revoked(live.cut)
    view.learn(issuer.state(numbers=[1]))
    assert all(one.aborted for one in odd)
    assert not good.aborted


async def test_whatever_judging_raises_only_that_connection_is_cut(pki: Pki) -> None:
    live = Live(HeardLog())
    bad, good = pki.issue(identity()), pki.issue(identity())
    first, second = connect(live, showing(bad)), connect(live, showing(good))

    def judge(one: Certificate) -> bool:
        if one.fingerprint == bad.certificate.fingerprint:
            raise LookupError
        return False

    live.cut(judge)
    assert (first.aborted, second.aborted) == (True, False)
