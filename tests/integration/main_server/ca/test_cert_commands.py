"""`gatepost cert`, `ca` and `crl` on the CA's machine, no server running; openssl is the judge."""

import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12
from sqlalchemy import func, select

from gatepost.cli.failure import EXIT_OF_KIND
from gatepost.trust.identity import Identity, Role
from main_server.ca.authorities import Authorities
from main_server.ca.authority import new_key, utc_now
from main_server.ca.requests import Asked, grant
from main_server.commands import cert as cert_commands
from main_server.store.database import transact
from main_server.store.tables import certificates
from tests.csrs import make_csr
from tests.integration.main_server.ca.ca_room import CaRoom
from tests.judges import openssl


def verify(room: CaRoom, name: str, *more: str) -> subprocess.CompletedProcess[str]:
    trusted = ("-CAfile", room.ca / "root.pem", "-untrusted", room.ca / "intermediate.pem")
    return openssl("verify", "-x509_strict", *trusted, *more, room.out / f"{name}.pem")


def test_an_issued_certificate_is_ready_to_be_used(room: CaRoom) -> None:
    issued = room.issue()
    assert issued["identity"] == f"gatepost://{room.domain}/client/client_001"
    assert verify(room, "client_001", "-purpose", "sslclient").returncode == 0
    assert verify(room, "client_001", "-purpose", "sslserver").returncode != 0
    key = room.out / "client_001.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    text = openssl("x509", "-in", room.out / "client_001.pem", "-noout", "-text").stdout
    assert "Version: 3" in text
    assert f"URI:gatepost://{room.domain}/client/client_001" in text
    assert "http://pki.example.com:8002/crl/" in text
    assert "OCSP - URI:http://pki.example.com:8002/ocsp" in text


def test_a_key_that_is_there_is_never_written_over(room: CaRoom) -> None:
    room.issue()
    before = (room.out / "client_001.key").read_bytes()
    said = room.gatepost("cert", "issue", f"{room.domain}:client_001", "--out", str(room.out))
    assert said.code == 2
    assert "is there already" in said.err
    assert (room.out / "client_001.key").read_bytes() == before
    assert len(room.done("cert", "list", "--domain", room.domain, "--json").documents) == 1


def test_a_request_is_certified_and_its_key_stays_where_it_is(room: CaRoom) -> None:
    key = new_key()
    csr = room.file("me.csr", make_csr(key=key, name="partner"))
    room.issue("partner", "--csr", str(csr))
    assert not (room.out / "partner.key").exists()
    leaf = x509.load_pem_x509_certificate((room.out / "partner.pem").read_bytes())
    assert leaf.public_key() == key.public_key()
    assert verify(room, "partner").returncode == 0
    again = room.gatepost(
        "cert", "issue", f"{room.domain}:other", "--csr", str(csr), "--out", str(room.out)
    )
    assert again.code == 3


def test_pkcs12_holds_key_and_chain_under_the_password(room: CaRoom) -> None:
    password = room.file("password", b"correct horse\n")
    room.issue("partner", "--pkcs12-password-file", str(password))
    data = (room.out / "partner.p12").read_bytes()
    key, leaf, above = pkcs12.load_key_and_certificates(data, b"correct horse")
    assert leaf is not None
    assert key is not None
    assert key.public_key() == leaf.public_key()
    assert len(above) == 1
    assert not (room.out / "partner.key").exists()


@pytest.mark.parametrize("password", [b"short\n", b"\n", b"", b"\xff" * 9, b"nul is\0no good"])
def test_a_password_is_judged_before_anything_is_issued(room: CaRoom, password: bytes) -> None:
    file = room.file("password", password)
    who = ["cert", "issue", f"{room.domain}:a", "--out", str(room.out)]
    assert room.gatepost(*who, "--pkcs12-password-file", str(file)).code in (2, 3)
    assert room.gatepost(*who, "--pkcs12-password-file", str(room.folder / "none")).code == 2
    assert room.done("cert", "list", "--domain", room.domain).out == ""


def test_a_request_brings_no_key_for_pkcs12(room: CaRoom) -> None:
    password = room.file("password", b"correct horse\n")
    csr = room.file("me.csr", make_csr())
    more = ["--csr", str(csr), "--pkcs12-password-file", str(password), "--out", str(room.out)]
    said = room.gatepost("cert", "issue", f"{room.domain}:a", *more)
    assert (said.code, "doesn't bring it" in said.err) == (2, True)
    assert room.done("cert", "list", "--domain", room.domain).out == ""


def test_nothing_that_is_there_is_written_over(room: CaRoom) -> None:
    room.out.mkdir()
    (room.out / "a.pem").write_text("mine")
    csr = room.file("me.csr", make_csr())
    for more in ([], ["--csr", str(csr)]):
        who = ["cert", "issue", f"{room.domain}:a", "--out", str(room.out), *more]
        assert room.gatepost(*who).code == 2
    assert (room.out / "a.pem").read_text() == "mine"
    assert not (room.out / "a.key").exists()
    assert room.done("cert", "list", "--domain", room.domain).out == ""


def test_nor_is_what_comes_there_meanwhile(room: CaRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*arguments: Any) -> Any:
        made = grant(*arguments)
        (room.out / "a.key").write_text("another's")
        return made

    monkeypatch.setattr(cert_commands, "grant", slow)
    said = room.gatepost("cert", "issue", f"{room.domain}:a", "--out", str(room.out))
    assert (said.code, "a.key is there already" in said.err) == (2, True)
    assert (room.out / "a.key").read_text() == "another's"
    assert [file.name for file in room.out.iterdir()] == ["a.key"]
    (made,) = room.done("cert", "list", "--domain", room.domain, "--json").documents
    assert made["serial"] in said.err, "whoever reads it can revoke it"


def test_whoever_is_called_ca_does_not_lose_a_certificate_to_the_pins(room: CaRoom) -> None:
    csr = room.file("me.csr", make_csr())
    for more in ([], ["--csr", str(csr)]):
        who = ["cert", "issue", f"{room.domain}:ca", "--out", str(room.out), *more]
        said = room.gatepost(*who)
        assert (said.code, "ca.pem" in said.err) == (2, True)
    assert room.done("cert", "list", "--domain", room.domain).out == ""


def test_what_is_revoked_is_seen_by_openssl(room: CaRoom) -> None:
    one, other = room.issue("one"), room.issue("other")
    said = room.done("cert", "revoke", "--serial", one["serial"], "--yes", "--json")
    assert (said.json["revoked"], said.json["redis_told"]) == ([one["serial"]], True)
    checked = ("-crl_check", "-CRLfile", str(room.crl_file))
    refused = verify(room, "one", *checked)
    assert refused.returncode != 0
    assert "certificate revoked" in refused.stderr
    assert verify(room, "other", *checked).returncode == 0
    text = openssl("crl", "-in", room.crl_file, "-noout", "-text").stdout
    assert one["serial"].upper() in text
    assert other["serial"].upper() not in text
    assert "X509v3 CRL Number" in text


def test_revoking_asks_first_and_a_dry_run_changes_nothing(room: CaRoom) -> None:
    issued = room.issue()
    who = f"{room.domain}:client_001"
    assert room.gatepost("cert", "revoke", who).code == 2
    shown = room.done("cert", "revoke", who, "--dry-run", "--json").json
    assert (shown["serial"], shown["status"]) == (issued["serial"], "active")
    assert room.done("cert", "show", who, "--json").json["status"] == "active"
    room.done("cert", "revoke", who, "--yes", "--reason", "keyCompromise")
    shown = room.done("cert", "show", "--serial", issued["serial"], "--json").json
    assert (shown["status"], shown["reason"]) == ("revoked", "keyCompromise")
    assert room.gatepost("cert", "revoke", who, "--yes").code == 4


@pytest.mark.parametrize("which", ["--serial", "--fingerprint"])
def test_an_empty_number_selects_nothing(room: CaRoom, which: str) -> None:
    room.issue()
    for change in (["revoke", "--yes"], ["hold", "--yes"], ["release"], ["show"]):
        for more in ([], ["--role", "client"]):
            said = room.gatepost("cert", *change, which, "", *more)
            assert (said.code, "hex digits" in said.err) == (3, True), said
    assert room.gatepost("cert", "revoke", "", "--yes").code == 3
    assert room.done("cert", "list", "--domain", room.domain, "--json").json["status"] == "active"


def test_a_hold_is_listed_and_ends_with_its_release(room: CaRoom) -> None:
    room.issue()
    who = f"client_001.{room.domain}"
    room.done("cert", "hold", who, "--yes")
    checked = ("-crl_check", "-CRLfile", str(room.crl_file))
    assert verify(room, "client_001", *checked).returncode != 0
    room.done("cert", "release", who)
    assert verify(room, "client_001", *checked).returncode == 0
    assert room.gatepost("cert", "release", who).code == 4


def test_who_revokes_hears_when_redis_was_not_told(room: CaRoom) -> None:
    room.issue()
    who = f"{room.domain}:client_001"
    room.config.write_text(room.config.read_text().replace(room.redis, "redis://127.0.0.1:1/0"))
    for change in ("hold", "release", "revoke"):
        said = room.gatepost("cert", change, who, "--json", *["--yes"][: change != "release"])
        assert (said.code, said.json["redis_told"]) == (EXIT_OF_KIND["unheard"], False)
        assert "Redis was not told" in said.err
    assert room.done("cert", "show", who, "--json").json["status"] == "revoked"
    assert room.gatepost("crl", "publish").code == EXIT_OF_KIND["unheard"]


def test_lists_are_filtered(room: CaRoom) -> None:
    room.issue("short", "--days", "1")
    room.issue("long")

    def names(*more: str) -> list[str]:
        found = room.done("cert", "list", "--domain", room.domain, "--json", *more).documents
        return sorted(one["name"] for one in found)

    assert names() == ["long", "short"]
    assert names("--expiring", "7") == ["short"]
    assert names("--name", "long", "--status", "active") == ["long"]
    assert names("--role", "proxy") == names("--status", "revoked") == []
    assert "short" in room.done("cert", "list", "--domain", room.domain).out


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("issue x --days 1e300", 2), ("issue x --days nan", 2), ("token x --minutes 1e300", 2),
        ("list --expiring 1e300", 2), ("list --expiring 9e8", 2), ("list --expiring nan", 2),
        ("list --domain é", 3), ("list --name é", 3), ("show é", 3),
    ],
)  # fmt: skip
def test_numbers_and_names_that_can_not_be_are_wrong_usage(
    room: CaRoom, asked: str, code: int
) -> None:
    said = room.gatepost("cert", *asked.split())
    assert said.code == code, said.err


def test_of_a_fingerprint_as_openssl_writes_it(room: CaRoom) -> None:
    issued = room.issue()
    said = openssl(
        "x509", "-in", room.out / "client_001.pem", "-noout", "-fingerprint", "-sha256"
    ).stdout
    fingerprint = said.strip().partition("=")[2]
    shown = room.done("cert", "show", "--fingerprint", fingerprint, "--json").json
    assert shown["serial"] == issued["serial"]


def test_a_servers_certificate_names_hosts_and_serves_only(room: CaRoom) -> None:
    common = ["cert", "issue", "gatepost:proxy-9", "--role", "proxy", "--usage", "server"]
    assert room.gatepost(*common, "--out", str(room.out)).code == 3
    room.done(*common, "--host", "proxy.example.com", "--host", "10.0.0.1", "--out", str(room.out))
    assert verify(room, "proxy-9", "-purpose", "sslserver").returncode == 0
    assert verify(room, "proxy-9", "-purpose", "sslclient").returncode != 0
    assert verify(room, "proxy-9", "-verify_hostname", "proxy.example.com").returncode == 0
    assert verify(room, "proxy-9", "-verify_ip", "10.0.0.1").returncode == 0
    assert verify(room, "proxy-9", "-verify_hostname", "other.example.com").returncode != 0


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "a/b", "a b", "a;rm", "a\nb", "a\x00b", "", ":", "x:", ":x", "ä", "a" * 65,
        "EXAMPLE.COM:a", "a:b:c", "x.", "-a", "example.com:a.b", "a..b",
    ],
)  # fmt: skip
def test_a_name_can_become_nothing_else(room: CaRoom, name: str) -> None:
    said = room.gatepost("cert", "issue", name, "--out", str(room.out))
    assert said.code in (2, 3, 4), said
    assert not list(room.out.glob("*")) if room.out.exists() else True


def test_nobody_is_given_a_domain_that_there_is_not(room: CaRoom) -> None:
    said = room.gatepost("cert", "issue", "nowhere.example:a", "--out", str(room.out))
    assert said.code == 4
    assert "no domain" in said.err
    assert room.gatepost("cert", "issue", "gatepost:a", "--out", str(room.out)).code == 3


def test_the_state_of_the_ca_is_shown(room: CaRoom) -> None:
    issued = room.issue()
    room.done("cert", "revoke", "--serial", issued["serial"], "--yes")
    shown = room.done("ca", "status", "--json").json
    (authority,) = shown["authorities"]
    assert (authority["state"], authority["active"]) == ("signs", 0)
    assert shown["root_key_online"] is True
    (mine,) = [one for one in shown["crls"] if one["issuer"] == authority["kid"]]
    assert [entry["serial"] for entry in mine["entries"]] == [issued["serial"]]
    assert "belongs offline" in room.done("ca", "status").out
    assert room.done("ca", "init", "--json").json["made"] is False
    before = mine["number"]
    room.done("crl", "publish")
    found = room.done("crl", "show", "--json").documents
    assert [one["number"] > before for one in found if one["issuer"] == authority["kid"]] == [True]


def test_two_hundred_at_once_have_two_hundred_serials(room: CaRoom) -> None:
    authority = Authorities(room.ca).signing

    def one(number: int) -> str:
        asked = Asked(Identity(room.domain, Role.CLIENT, f"c-{number % 50}"), None, (), None, None)
        return grant(room.engine, authority, asked, utc_now()).serial

    with ThreadPoolExecutor(10) as threads:
        serials = list(threads.map(one, range(200)))
    assert len(set(serials)) == 200
    query = select(func.count()).where(
        certificates.c.domain == room.domain, certificates.c.status == "active"
    )
    assert transact(room.engine, lambda c: c.scalar(query)) == 200
    assert room.done("audit", "verify", "--json").json["whole"] is True


def test_a_lifetime_can_only_be_shorter(room: CaRoom) -> None:
    who = ["cert", "issue", f"{room.domain}:a", "--out", str(room.out)]
    assert room.gatepost(*who, "--days", "91").code == 3
    assert room.gatepost(*who, "--days", "0").code == 3
    room.issue("b", "--days", "0.5")
    leaf = x509.load_pem_x509_certificate((room.out / "b.pem").read_bytes())
    assert leaf.not_valid_after_utc - utc_now() <= timedelta(hours=12)
