"""Every bad certificate against both ports: refused, each for its own reason, which the log names.

Those that are good in themselves and not wanted here (revoked, on hold, of another role) are at the
end: the matrix has them all.
"""

import ssl
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity, Role
from gatepost.trust.revocation import Reason
from gatepost.trust.tls import client_context
from main_server.store.database import transact
from tests.acceptance.certificates.bad import BAD, Bad, Forge
from tests.acceptance.certificates.conftest import Make
from tests.acceptance.certificates.revoking import revoke_now
from tests.acceptance.site import Site, Wire, eventually
from tests.factories import identity

SERVERS = {
    "proxy": ("/api/v1/whoami", identity()),
    "main_server": ("/internal/queues", Identity(INFRASTRUCTURE_DOMAIN, Role.WORKER, "worker-1")),
}
REVOKED = "This certificate was revoked, or is on hold."


def showing(site: Site, chain: Path, key: Path) -> ssl.SSLContext:
    """A caller that would show anything: what its own library thinks of it doesn't matter."""
    context = ssl.create_default_context(cafile=site.files("client_001").ca_file)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.load_cert_chain(chain, key)
    return context


def outcome(site: Site, service: str, context: ssl.SSLContext) -> tuple[int, str]:
    """The status of the answer, and its request's id; 0 if there was none."""
    path, _ = SERVERS[service]
    try:
        with Wire(site.url(service), context) as wire:
            wire.send(f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            status, headers, _ = wire.answer()
            return status, headers.get("x-request-id", "")
    except OSError:
        return 0, ""


def reasons(site: Site, service: str, request_id: str) -> list[str]:
    """What the log says: of this request, or of handshakes that failed."""
    found: list[dict[str, Any]] = (
        site.events(service, "request.served", request_id=request_id)
        if request_id
        else site.events(service, "tls.refused")
    )
    return [str(one["reason"]) for one in found]


def assert_refused(site: Site, service: str, context: ssl.SSLContext, reason: str) -> None:
    before = len(reasons(site, service, ""))
    status, request_id = outcome(site, service, context)
    assert status in (0, 403)
    told = eventually(
        lambda: reasons(site, service, request_id)[0 if request_id else before :], "the reason"
    )
    assert reason in told, "it was refused for another reason"


def test_the_matrix_is_large_enough_and_names_nothing_twice() -> None:
    assert len(BAD) + len(OTHERWISE) + 1 >= 60
    assert len({bad.what for bad in BAD}) == len(BAD)


@pytest.mark.parametrize("service", SERVERS)
@pytest.mark.parametrize("bad", BAD, ids=[bad.what for bad in BAD])
def test_it_is_refused_for_its_own_reason(
    site: Site, tmp_path: Path, service: str, bad: Bad
) -> None:
    forge = Forge(site.stack.place.folder / "ca", tmp_path, SERVERS[service][1])
    chain, key = bad.make(forge)
    (tmp_path / "bad.pem").write_bytes(chain)
    (tmp_path / "bad.key").write_bytes(key)
    context = showing(site, tmp_path / "bad.pem", tmp_path / "bad.key")
    assert_refused(site, service, context, bad.reason)


@pytest.mark.parametrize("service", SERVERS)
def test_none_at_all_is_refused(site: Site, service: str) -> None:
    context = ssl.create_default_context(cafile=site.files("client_001").ca_file)
    assert_refused(site, service, context, "peer did not return a certificate")


OTHERWISE = {
    "revoked": (Reason.KEY_COMPROMISE, REVOKED),
    "on hold": (Reason.CERTIFICATE_HOLD, REVOKED),
}


@pytest.mark.parametrize("service", SERVERS)
@pytest.mark.parametrize("what", OTHERWISE)
def test_a_good_one_that_was_revoked_is_refused(
    site: Site, known: Make, service: str, what: str
) -> None:
    reason, told = OTHERWISE[what]
    pair = known(SERVERS[service][1].role)
    revoke_now(site, pair, reason)
    context = client_context(pair.files)
    eventually(lambda: outcome(site, service, context)[0] == 403, "it is out", 2)
    assert_refused(site, service, context, told)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.CLIENT])
def test_a_good_one_of_another_role_is_refused_at_the_edge(
    site: Site, known: Make, role: Role
) -> None:
    context = client_context(known(role).files)
    assert_refused(site, "proxy", context, f"The role {role} may not send.")


def test_a_good_one_is_served_after_all_of_that(site: Site) -> None:
    for service, name in (("proxy", "client_001"), ("main_server", "worker")):
        assert outcome(site, service, client_context(site.files(name)))[0] == 200
        assert site.events(service, "request.failed") == []


def test_a_good_one_under_another_name_in_the_ledger_is_unknown(site: Site, known: Make) -> None:
    """As a ledger that was tampered with would have it."""
    pair = known(Role.CLIENT)
    serial = pair.certificate.serial
    statement = text("UPDATE certificates SET name = 'client_001' WHERE serial = :serial")
    transact(site.engine, lambda c: c.execute(statement, {"serial": serial}))
    context = client_context(pair.files)
    told = "The ledger knows this certificate under another name."
    eventually(lambda: outcome(site, "proxy", context)[0] == 403, "it is out", 5)
    eventually(lambda: all(outcome(site, "proxy", context)[0] == 403 for _ in range(8)), "all", 5)
    assert_refused(site, "proxy", context, told)
