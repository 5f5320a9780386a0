"""Revoked means out (I8), at proxy and main server: new connections, live ones, no others."""

import pytest

from gatepost.trust.identity import Role
from gatepost.trust.revocation import Reason
from gatepost.trust.tls import client_context
from tests.acceptance.certificates.conftest import Make
from tests.acceptance.certificates.revoking import release_now, revoke_now
from tests.acceptance.site import Site, Wire, accepted, eventually, post
from tests.factories import Pair

REVOKED = "urn:gatepost:problem:revoked-certificate"
WHOAMI = b"GET /api/v1/whoami HTTP/1.1\r\nHost: h\r\n\r\n"
QUEUES = b"GET /internal/queues HTTP/1.1\r\nHost: h\r\n\r\n"
PORTS = [("proxy", Role.CLIENT, WHOAMI), ("main_server", Role.WORKER, QUEUES)]


def is_revoked(site: Site, pair: Pair, service: str) -> bool:
    path = "/api/v1/whoami" if service == "proxy" else "/internal/queues"
    with site.calling(pair.files, service) as caller:
        answer = caller.get(path)
    return answer.status_code == 403 and answer.json()["type"] == REVOKED


@pytest.mark.parametrize(("service", "role", "request_bytes"), PORTS)
def test_a_second_later_nobody_takes_it_and_what_it_had_open_is_cut(
    site: Site, known: Make, service: str, role: Role, request_bytes: bytes
) -> None:
    out, stays = known(role), known(role)
    context, other = client_context(out.files), client_context(stays.files)
    wires = [Wire(site.url(service), context) for _ in range(12)]
    others = [Wire(site.url(service), other) for _ in range(12)]
    for wire in wires + others:
        wire.send(request_bytes)
        assert wire.answer()[0] == 200
    revoke_now(site, out)
    for wire in wires:
        wire.socket.settimeout(5)
        assert wire.answer()[0] == 0, "it was not cut"
    assert all(is_revoked(site, out, service) for _ in range(8))
    for wire in others:
        wire.send(request_bytes)
        assert wire.answer()[0] == 200, "another's was cut"
    for wire in wires + others:
        wire.socket.close()


def test_what_was_accepted_before_is_delivered_all_the_same(site: Site, known: Make) -> None:
    pair = known(Role.CLIENT)
    with site.calling(pair.files) as client:
        message_id = accepted(post(client))
        revoke_now(site, pair)
        site.wait_delivered(message_id)


def test_what_is_on_hold_is_out_until_it_is_released(site: Site, known: Make) -> None:
    pair = known(Role.CLIENT)
    revoke_now(site, pair, Reason.CERTIFICATE_HOLD)
    eventually(lambda: is_revoked(site, pair, "proxy"), "it is out")
    release_now(site, pair)

    def is_back() -> bool:
        with site.calling(pair.files) as client:
            return client.get("/api/v1/whoami").status_code == 200

    eventually(lambda: all(is_back() for _ in range(8)), "it is back")


def test_without_the_wake_up_and_without_redis_the_main_server_says_so(
    site: Site, known: Make
) -> None:
    pair = known(Role.CLIENT)
    with Wire(site.url("proxy"), client_context(pair.files)) as wire:
        wire.send(WHOAMI)
        assert wire.answer()[0] == 200
        revoke_now(site, pair, tell_redis=False)
        wire.socket.settimeout(5)
        assert wire.answer()[0] == 0


def test_the_reason_is_in_the_answer_and_in_the_log(site: Site, known: Make) -> None:
    pair = known(Role.CLIENT)
    revoke_now(site, pair)
    eventually(lambda: is_revoked(site, pair, "proxy"), "it is out", 2)
    with site.calling(pair.files) as client:
        answer = post(client)
    assert (answer.status_code, answer.json()["type"]) == (403, REVOKED)
    request_id = answer.headers["x-request-id"]
    [event] = eventually(
        lambda: site.events("proxy", "request.served", request_id=request_id), "the event"
    )
    assert event["reason"] == "This certificate was revoked, or is on hold."
