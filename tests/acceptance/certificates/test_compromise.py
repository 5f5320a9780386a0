"""The intermediate's key has become known: the procedure of docs/certificates.md, under load.

On a stack of its own: at the end nothing is good that others began with.
"""

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from cryptography import x509

from gatepost.client.files import Files
from gatepost.trust.revoked import key_id
from gatepost.trust.tls import TlsFiles, client_context
from infra.dev.stack import Stack
from tests.acceptance.senders import Senders
from tests.acceptance.site import Site, Wire, accepted, eventually, post
from tests.factories import identity

GATEPOST = str(Path(sys.executable).with_name("gatepost"))
REVOKED = "urn:gatepost:problem:revoked-certificate"
UNKNOWN = "urn:gatepost:problem:unknown-certificate"
SERVICES = ("main_server", "proxy", "worker", "portal")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Site]:
    with Stack(tmp_path / "var") as stack:
        site = Site(stack)
        site.wait_ready()
        yield site


class Operator:
    """Who follows the procedure, command by command."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._pki, self._config = site.stack.place.pki, site.stack.place.config

    def ca(self, *words: str) -> str:
        config = str(self._config / "main_server.yaml")
        line = [GATEPOST, "ca", *words, "--config", config]
        return subprocess.run(line, check=True, capture_output=True, text=True, timeout=60).stdout

    def give_pins(self, *others: Path) -> None:
        """To all peers; until every process has taken them up."""
        before = self._taken_up()
        pins = self.ca("pins")
        for file in (self._pki / "ca.pem", *others):
            file.write_text(pins)
        eventually(
            lambda: all(times > before[pid] for pid, times in self._taken_up().items()),
            "each process has taken up the CA file",
        )

    def renew_all(self, partner: Files) -> None:
        """All at once: what we run by its settings, an administrator and a partner by theirs."""
        admin = Files(self._pki / "ca.pem", self._pki / "admin.pem", self._pki / "admin.key")
        lines = [["--config", str(self._config / f"{name}.yaml")] for name in SERVICES]
        lines += [self._by(admin, "main_server"), self._by(partner, "proxy")]
        running = [
            subprocess.Popen(
                [GATEPOST, "cert", "renew", "--now", *line], stderr=subprocess.PIPE, text=True
            )
            for line in lines
        ]
        for one in running:
            _, said = one.communicate(timeout=60)
            assert one.returncode == 0, said

    def _by(self, files: Files, service: str) -> list[str]:
        names = {"ca": files.ca, "cert": files.cert, "key": files.key}
        options = [f"--{name}={file}" for name, file in names.items()]
        return [f"--url={self._site.url(service)}", *options]

    def _taken_up(self) -> Counter[int]:
        """How often each process that runs has taken up the CA file of a view."""
        file = [str(self._pki / "ca.pem")]
        found: Counter[int] = Counter()
        for name in SERVICES:
            events = self._site.events(name, "files.replaced", problem=None, files=file)
            told = Counter(event["pid"] for event in events)
            found.update({pid: told[pid] for pid in self._site.pids(name)[1:]})
        return found


def copy(site: Site, name: str, folder: Path) -> Files:
    folder.mkdir()
    files = Files(folder / "ca.pem", folder / "me.pem", folder / "me.key")
    pki = site.stack.place.pki
    for file, source in zip(
        (files.ca, files.cert, files.key), ("ca.pem", f"{name}.pem", f"{name}.key"), strict=True
    ):
        shutil.copy(pki / source, file)
    return files


def tls(files: Files) -> TlsFiles:
    return TlsFiles(files.cert, files.key, files.ca)


def problem(site: Site, files: TlsFiles, service: str, path: str) -> str:
    with site.calling(files, service) as caller:
        answer = caller.get(path)
    return str(answer.json()["type"]) if answer.status_code == 403 else str(answer.status_code)


def issuer_shown(site: Site, service: str, files: TlsFiles) -> bytes:
    """Who has signed what a port shows."""
    with Wire(site.url(service), client_context(files)) as wire:
        leaf = x509.load_der_x509_certificate(wire.socket.getpeercert(binary_form=True) or b"")
    found = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
    return found.key_identifier or b""


def all_show_the_new(site: Site, service: str, files: TlsFiles) -> bool:
    """Each process takes it up by itself, and which one answers is chance."""
    return all(issuer_shown(site, service, files) == kid(site) for _ in range(8))


def kid(site: Site) -> bytes:
    pem = (site.stack.place.folder / "ca" / "intermediate.pem").read_bytes()
    return bytes.fromhex(key_id(x509.load_pem_x509_certificate(pem)))


def is_out(site: Site, why: str, late: TlsFiles, former: TlsFiles) -> None:
    """A partner that hasn't renewed, and what the proxy called with before."""
    for who, service, path in (
        (late, "proxy", "/api/v1/whoami"),
        (former, "main_server", "/internal/revocations"),
    ):
        eventually(
            lambda who=who, service=service, path=path: (  # type: ignore[misc]
                problem(site, who, service, path) == why
            ),
            f"{service}: {why}",
        )


def test_an_intermediate_is_replaced_without_an_outage(own: Site, tmp_path: Path) -> None:
    operator, stolen = Operator(own), kid(own)
    partner = copy(own, "client_001", tmp_path / "partner")
    late = own.issue(identity(name="late")).files
    former = tls(copy(own, "proxy-client", tmp_path / "former"))
    with Senders(own, partner, asynchronous=False, renew=True) as senders:
        senders.flow(20)
        operator.ca("prepare")
        operator.give_pins(partner.ca)
        senders.flow(20)
        operator.ca("switch", "--yes")
        senders.flow(20)
        with own.calling(late) as client:
            accepted(post(client))
        operator.renew_all(partner)
        senders.shows(partner)
        senders.flow(20)
        assert kid(own) != stolen
        for service in ("proxy", "main_server"):
            shown = partial(all_show_the_new, own, service, tls(partner))
            eventually(shown, f"{service} shows the new one")
        operator.ca("retire", "--yes")
        is_out(own, REVOKED, late, former)
        senders.flow(20)
        operator.give_pins(partner.ca)
        is_out(own, UNKNOWN, late, former)
        senders.flow(40)
        assert own.missing() == {}
    assert senders.failed == []
    own.wait_delivered(*senders.promised)
