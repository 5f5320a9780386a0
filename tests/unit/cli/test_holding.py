"""Which certificates a service's settings name, and which of them are ours to renew."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gatepost.cli.holding import find_held
from gatepost.cli.options import Options
from gatepost.trust.identity import Role
from main_server.ca.authority import Usage
from tests.factories import Pair, Pki, identity
from tests.unit.client.gateway import Authority

NOTHING = Options(None, None, None, None, 5.0, False, False)


@pytest.fixture
def calls(pki: Pki) -> Pair:
    return pki.issue(identity(Role.PORTAL, "gatepost", "portal-1"))


def held(folder: Path, calls: Pair, **tls: Any) -> list[tuple[Path, Path]]:
    """Of each: the CA file that it is trusted by, and its own."""
    main_server = {
        "url": "https://main.example.com:8000",
        "cert_file": str(calls.cert),
        "key_file": str(calls.key),
        "ca_file": str(calls.ca),
    }
    file = folder / "portal.yaml"
    shown = {name: str(path) for name, path in tls.items()}
    file.write_text(yaml.safe_dump({"main_server": main_server, "tls": shown}))
    return [(one.files.ca, one.files.cert) for one in find_held(NOTHING, file)]


def test_both_of_a_service_are_found(pki: Pki, calls: Pair, tmp_path: Path) -> None:
    """A portal names no CA file beside the certificate that browsers see."""
    holder = identity(Role.PORTAL, "gatepost", "portal-1")
    shown = pki.issue(holder, Usage.SERVER)
    wanted = [(calls.ca, calls.cert), (calls.ca, shown.cert)]
    assert held(tmp_path, calls, cert_file=shown.cert, key_file=shown.key) == wanted


def test_one_of_a_public_ca_is_left_to_it(
    authority: Authority, calls: Pair, tmp_path: Path
) -> None:
    shown = authority.issue("portal.example.com", server=True)
    found = held(tmp_path, calls, cert_file=shown.cert, key_file=shown.key)
    assert found == [(calls.ca, calls.cert)]
