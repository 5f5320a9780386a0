"""Renewal by the holder: from two thirds of the life on, with a new key, and nothing fails."""

import base64
import json
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from gatepost.cli.failure import EXIT_OF_KIND
from gatepost.cli.main import run
from gatepost.client.files import Files
from gatepost.client.keys import make_key, make_request
from gatepost.client.renewing import PATH
from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import Reason
from gatepost.trust.tls import TlsFiles, client_context
from gatepost.wire.renewal import sign_renewal
from main_server.ca.authority import Order, Usage, load_authority, utc_now
from main_server.ca.service import issue
from tests.acceptance.senders import Senders
from tests.acceptance.site import Site, accepted, eventually, post
from tests.factories import HOSTS, identity

INTERNAL = "/internal/certificates/renew"
CLIENT, SERVER = Usage.CLIENT, Usage.SERVER


def old(site: Site, folder: Path, *, due: bool = True) -> Files:
    """A client's certificate that is in the last third of its life, unless it shall not be."""
    holder = identity(name=f"r-{uuid4().hex[:10]}")
    site.issue(holder)  # so that the client is there
    life, lived = timedelta(days=9), timedelta(days=8 if due else 1)
    authority = load_authority(site.stack.place.folder / "ca")
    made = issue(site.engine, authority, Order(holder, Usage.CLIENT, life), utc_now() - lived)
    folder.mkdir()
    files = Files(folder / "ca.pem", folder / "me.pem", folder / "me.key")
    shutil.copy(site.stack.place.pki / "ca.pem", files.ca)
    files.cert.write_bytes(made.chain_pem)
    files.key.write_bytes(made.key_pem)
    files.key.chmod(0o600)
    site.wait_known(trusted(files))
    return files


def trusted(files: Files) -> TlsFiles:
    return TlsFiles(files.cert, files.key, files.ca)


def command(site: Site, files: Files, *more: str) -> list[str]:
    where = ["--url", site.url("proxy"), "--ca", str(files.ca)]
    return ["cert", "renew", *where, "--cert", str(files.cert), "--key", str(files.key), *more]


def asked(files: Files, csr: bytes, key: bytes | None = None) -> dict[str, str]:
    signer = load_pem_private_key(key or files.key.read_bytes(), None)
    signature = sign_renewal(signer, csr)  # type: ignore[arg-type]
    parts = {"csr": csr, "signature": signature}
    return {name: base64.b64encode(value).decode() for name, value in parts.items()}


def test_the_command_renews_with_a_new_key_and_both_are_good(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = old(site, tmp_path / "me")
    before = shutil.copytree(tmp_path / "me", tmp_path / "before")
    assert run(command(site, files, "--json")) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["renewed"] is True
    leaf = files.leaf()
    was = x509.load_pem_x509_certificate((before / "me.pem").read_bytes())
    assert leaf.public_key() != was.public_key()
    assert leaf.serial_number != was.serial_number
    assert files.key.stat().st_mode & 0o077 == 0
    assert sorted(one.name for one in (tmp_path / "me").iterdir()) == [
        "ca.pem", "me.key", "me.key.lock", "me.pem",
    ]  # fmt: skip
    site.wait_known(trusted(files))
    for one in (files, Files(before / "ca.pem", before / "me.pem", before / "me.key")):
        with site.calling(trusted(one)) as client:
            accepted(post(client))
    assert run(command(site, files, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["renewed"] is False


def test_before_two_thirds_of_its_life_it_is_refused(site: Site, tmp_path: Path) -> None:
    files = old(site, tmp_path / "me", due=False)
    assert run(command(site, files)) == 0, "it is not time, and nothing is asked"
    assert run(command(site, files, "--now")) == 3
    with site.calling(trusted(files)) as client:
        answer = client.post(PATH, json=asked(files, make_request(make_key())))
    assert answer.json()["type"] == "urn:gatepost:problem:not-yet"


def test_an_answer_that_was_lost_is_given_again(site: Site, tmp_path: Path) -> None:
    files = old(site, tmp_path / "me")
    body = asked(files, make_request(make_key()))
    with site.calling(trusted(files)) as client:
        first, again = (client.post(PATH, json=body) for _ in range(2))
    assert first.status_code == 201, first.text
    assert again.json() == first.json()


def test_who_has_not_the_old_key_renews_nothing(site: Site, tmp_path: Path) -> None:
    files = old(site, tmp_path / "me")
    csr = make_request(make_key())
    with site.calling(trusted(files)) as client:
        bodies: list[object] = [asked(files, csr, make_key()), {"csr": "x", "signature": "y"}, {}]
        for wrong in [*bodies, []]:
            assert client.post(PATH, json=wrong).status_code in (400, 422)
        own = asked(files, make_request(files.key.read_bytes()))
        assert client.post(PATH, json=own).json()["type"].endswith("key-used-before")
        other = asked(old(site, tmp_path / "other"), csr)
        assert client.post(PATH, json=other).status_code == 422
    # Nor does a proxy, for whom it carries.
    fingerprint = {"fingerprint": files.leaf().fingerprint(SHA256()).hex()}
    with site.calling("proxy-client", "main_server") as proxy:
        forged = asked(files, csr, make_key()) | fingerprint
        assert proxy.post("/internal/certificates/renew", json=forged).status_code == 422


@pytest.mark.parametrize("reason", [Reason.KEY_COMPROMISE, Reason.CERTIFICATE_HOLD])
def test_what_is_revoked_is_not_renewed(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: Reason
) -> None:
    """Nor by a proxy that would bring it all the same."""
    files = old(site, tmp_path / "me")
    before, fingerprint = files.leaf(), files.leaf().fingerprint(SHA256()).hex()
    with site.calling("admin", "main_server") as admin:
        order = {"fingerprint": fingerprint, "reason": reason}
        assert admin.post("/admin/certificates/revoke", json=order).status_code == 200
    with site.calling("proxy-client", "main_server") as proxy:
        body = asked(files, make_request(make_key())) | {"fingerprint": fingerprint}
        assert proxy.post(INTERNAL, json=body).json()["type"].endswith("unknown-certificate")
    eventually(lambda: run(command(site, files)) == EXIT_OF_KIND["forbidden"], "it is refused", 5)
    assert "revoked" in capsys.readouterr().err
    assert files.leaf() == before


def aged(site: Site, holder: Identity, usage: Usage, folder: Path) -> Files:
    """A certificate of what we run, in the last third of its life."""
    order = Order(holder, usage, timedelta(days=9), HOSTS if usage is Usage.SERVER else ())
    authority = load_authority(site.stack.place.folder / "ca")
    made = issue(site.engine, authority, order, utc_now() - timedelta(days=8))
    files = Files(folder / "ca.pem", folder / f"{usage.name}.pem", folder / f"{usage.name}.key")
    shutil.copy(site.stack.place.pki / "ca.pem", files.ca)
    files.cert.write_bytes(made.chain_pem)
    files.key.write_bytes(made.key_pem)
    files.key.chmod(0o600)
    return files


def block(files: Files) -> dict[str, str]:
    return {"cert_file": str(files.cert), "key_file": str(files.key), "ca_file": str(files.ca)}


def renew_by(settings: dict[str, Any], folder: Path, *more: str) -> int:
    file = folder / "service.yaml"
    file.write_text(yaml.safe_dump(settings))
    return run(["cert", "renew", "--config", str(file), "--json", *more])


def names_in(files: Files) -> list[str]:
    found = files.leaf().extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return sorted(str(name.value) for name in found)


@pytest.fixture
def proxy(site: Site, tmp_path: Path) -> tuple[Files, Files]:
    """How a proxy calls, and how it is called; the main server knows it."""
    holder = Identity("gatepost", Role.PROXY, f"p-{uuid4().hex[:8]}")
    calls, is_called = (aged(site, holder, usage, tmp_path) for usage in (CLIENT, SERVER))

    def known() -> bool:
        with site.calling(trusted(calls), "main_server") as caller:
            return caller.get("/internal/revocations").status_code == 200

    eventually(known, "it is known")
    return calls, is_called


def test_a_proxy_renews_both_of_its_certificates_by_its_settings(
    site: Site, proxy: tuple[Files, Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [(files.leaf(), names_in(files)) for files in proxy]
    called = {"url": site.url("main_server")} | block(proxy[0])
    settings = {"tls": block(proxy[1]), "main_server": called}
    assert renew_by(settings, tmp_path) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["file"], one["renewed"]) for one in said] == [
        (str(files.cert), True) for files in proxy
    ]
    for files, (old_leaf, names) in zip(proxy, before, strict=True):
        assert files.leaf().public_key() != old_leaf.public_key()
        assert names_in(files) == names
        client_context(trusted(files))  # key and certificate fit
    with site.calling(trusted(proxy[0]), "main_server") as caller:
        assert caller.get("/internal/revocations").status_code == 200
    assert renew_by(settings, tmp_path) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["renewed"] for one in said] == [False, False]
    assert renew_by(settings, tmp_path, "--now") == 3, "the main server says that it is early"


def test_an_answer_about_a_servers_certificate_that_was_lost_is_given_again(
    site: Site, proxy: tuple[Files, Files]
) -> None:
    calls, _ = proxy
    body = asked(calls, make_request(make_key())) | {"usage": "server"}
    with site.calling(trusted(calls), "main_server") as caller:
        first, again = (caller.post(INTERNAL, json=body) for _ in range(2))
        assert first.status_code == 201, first.text
        assert again.json() == first.json()
        as_client = caller.post(INTERNAL, json=body | {"usage": "client"})
        assert as_client.json()["type"].endswith("key-used-before")
        theirs = asked(calls, make_request(make_key())) | {"fingerprint": "00" * 32}
        assert caller.post(INTERNAL, json=theirs).status_code == 403


def test_who_is_no_main_server_is_not_asked(
    site: Site, proxy: tuple[Files, Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls, _ = proxy
    assert renew_by({"main_server": {"url": site.url("proxy")} | block(calls)}, tmp_path) == 6
    assert "expected the role main" in capsys.readouterr().err


def test_a_main_server_renews_its_own_where_its_ca_is(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    holder = Identity("gatepost", Role.MAIN, f"m-{uuid4().hex[:8]}")
    files = aged(site, holder, SERVER, tmp_path)
    before, names = files.leaf(), names_in(files)
    settings = yaml.safe_load((site.stack.place.config / "main_server.yaml").read_text())
    settings |= {"tls": block(files)}
    assert renew_by(settings, tmp_path) == 0
    assert json.loads(capsys.readouterr().out)["renewed"] is True
    assert files.leaf().public_key() != before.public_key()
    assert names_in(files) == names
    client_context(trusted(files))  # key and certificate fit
    assert renew_by(settings, tmp_path, "--now") == 3
    where = ["--url", site.url("main_server"), "--ca", str(files.ca)]
    pair = ["--cert", str(files.cert), "--key", str(files.key)]
    assert run(["cert", "renew", *where, *pair, "--now"]) == 6
    assert "on its machine" in capsys.readouterr().err


@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking", "asynchronous"])
def test_the_library_renews_by_itself_and_no_send_fails(
    site: Site, tmp_path: Path, asynchronous: bool
) -> None:
    files = old(site, tmp_path / "me")
    before = files.leaf()
    with Senders(site, files, asynchronous=asynchronous, renew=True) as senders:
        eventually(lambda: files.leaf() != before, "it renews")
        senders.shows(files)
        senders.flow(60)
    assert senders.failed == []


def test_the_daemon_renews_and_a_running_client_takes_it_up(site: Site, tmp_path: Path) -> None:
    files = old(site, tmp_path / "me")
    before = files.leaf()
    gatepost = str(Path(sys.executable).with_name("gatepost"))
    line = [gatepost, *command(site, files, "--daemon", "--json")]
    with (
        Senders(site, files, asynchronous=False, renew=False) as senders,
        subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as daemon,
    ):
        try:
            assert daemon.stdout is not None
            said = json.loads(daemon.stdout.readline())
            assert files.leaf() != before
            assert said["renewed"] is True
            assert said["serial"] == f"{files.leaf().serial_number:032x}"
            senders.shows(files)
            senders.flow(20)
            assert daemon.poll() is None, "it stays"
        finally:
            daemon.terminate()
    assert senders.failed == []
