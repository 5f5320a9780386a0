"""Commands as they are typed: on a machine as the looks say them, in a checkout as it has them."""

import datetime
import shlex
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from gatepost.cli.doctor.looks.reissue import reissue
from gatepost.cli.doctor.site import Site
from gatepost.cli.doctor.typed import AGAIN, as_typed, own_command
from gatepost.trust.identity import Identity, Role
from main_server.ca.authority import Order, Usage, load_authority, new_key, utc_now
from main_server.ca.founding import init_authority
from tests.factories import HOSTS

OURS = str(Path(sys.executable).with_name("gatepost"))


def in_checkout(command: str) -> str:
    return as_typed(command, Site(Path("/c/var/config"), True, {}))


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        ("systemctl status gatepost-main-server", "./dev status"),
        ("systemctl --failed", "./dev status"),
        ("systemctl restart gatepost-redis", AGAIN),
        ("redis-cli -h 127.0.0.1 -p 1 --user operator --askpass CONFIG SET a b", AGAIN),
        ('mariadb -e "SET GLOBAL general_log = OFF"', AGAIN),
        ("gatepost install", AGAIN),
        ("chmod 600 /c/var/pki/proxy.key", "chmod 600 /c/var/pki/proxy.key"),
        ("./dev up --detach", "./dev up --detach"),
        ("du -xh --max-depth=2 /c/var/gatepost", "du -xh --max-depth=2 /c/var/gatepost"),
    ],
)
def test_a_checkout_has_no_units_and_no_tools_of_the_stores(command: str, typed: str) -> None:
    assert in_checkout(command) == typed
    assert as_typed(command, Site(Path("/etc/gatepost"), False, {})) == command


def test_its_own_command_is_named_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    ours = own_command(Path("/"))
    assert (Path("/") / ours).samefile(OURS)
    assert shlex.split(in_checkout("gatepost queue list")) == [ours, "queue", "list"]
    assert shlex.split(in_checkout("sudo gatepost doctor")) == ["sudo", ours, "doctor"]
    assert own_command(Path("/nowhere")) == OURS


def test_an_expired_certificate_is_issued_anew_and_put_in_its_place(tmp_path: Path) -> None:
    cert, key = tmp_path / "server.pem", tmp_path / "server.key"
    order = Order(
        Identity("gatepost", Role.PROXY, "proxy-1"), Usage.SERVER, datetime.timedelta(1), HOSTS
    )
    init_authority(tmp_path / "ca", utc_now())
    authority = load_authority(tmp_path / "ca")
    leaf = authority.sign(order, new_key().public_key(), 1 << 126, utc_now())
    cert.touch()
    issue, *moves, cleared = [
        shlex.split(one) for one in reissue(leaf, cert, key, Path("/c.yaml")).split(" && ")
    ]
    new = f"{cert}.new"
    assert issue[:4] == ["gatepost", "cert", "issue", "gatepost:proxy-1"]
    assert issue[4:8] == ["--role", "proxy", "--usage", "server"]
    assert [issue[n + 1] for n, word in enumerate(issue) if word == "--host"] == list(HOSTS)
    assert issue[-4:] == ["--out", new, "--config", "/c.yaml"]
    assert "--config" not in reissue(leaf, cert, key, None)
    assert moves == [
        ["install", "-m", "600", f"{new}/proxy-1.key", str(key)],
        ["install", "-m", "644", f"{new}/proxy-1.pem", str(cert)],
    ]
    assert cleared == ["rm", "-r", new]


def test_one_of_another_ca_is_shown(tmp_path: Path) -> None:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime(2026, 1, 1)
    name = x509.Name([])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now)
    leaf = builder.sign(key, SHA256())
    assert reissue(leaf, tmp_path / "a.pem", tmp_path / "a.key", None).startswith("openssl x509 ")
