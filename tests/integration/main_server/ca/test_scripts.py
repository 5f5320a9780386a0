"""The scripts of the design: thin, and what they run is `gatepost`."""

import os
import subprocess
from pathlib import Path

from infra.dev.paths import ROOT
from tests.integration.main_server.ca.ca_room import CaRoom
from tests.judges import openssl

SCRIPTS = ("init_ca", "generate_cert", "renew_cert", "revoke_cert", "list_certs")


def script(
    room: CaRoom, name: str, *arguments: str, config: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / f"{name}.sh"), *arguments],
        env={**os.environ, "GATEPOST_CONFIG": str(config or room.config)},
        cwd=room.folder,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_from_a_certificate_to_its_revocation(room: CaRoom) -> None:
    who = f"client_001.{room.domain}"
    assert "was there already" in script(room, "certs/init_ca").stdout
    assert script(room, "main_server/generate_cert", who).returncode == 0
    assert (room.folder / "client_001.key").exists()
    listed = script(room, "certs/list_certs", "--domain", room.domain)
    assert "active" in listed.stdout
    assert script(room, "certs/revoke_cert", who).returncode == 2, "it asks first"
    assert script(room, "main_server/revoke_cert", who, "--yes").returncode == 0
    renewed = script(room, "certs/renew_cert", "--cert", "client_001.pem", "--key", "no.key")
    assert "gatepost: No gateway is set up here" in renewed.stderr, "it is the holder's command"
    assert "Revoked Certificates" in openssl("crl", "-in", room.crl_file, "-text").stdout


def test_who_says_which_configuration_is_heard(room: CaRoom) -> None:
    room.issue()
    mine = str(room.config)
    for said in (["--config", mine], [f"--config={mine}"]):
        listed = script(room, "certs/list_certs", *said, config=room.folder / "another.yaml")
        assert (listed.returncode, "client_001" in listed.stdout) == (0, True), listed.stderr
    who = ["--yes", "--", f"{room.domain}:client_001"]
    assert script(room, "certs/revoke_cert", *who).returncode == 0, "nothing is put behind the --"
    assert "Usage" in script(room, "certs/gatepost", "crl").stderr


def test_each_has_a_shim_that_says_that_it_is_untested() -> None:
    files = [ROOT / "certs" / f"{name}.bat" for name in SCRIPTS]
    files += [ROOT / "main_server" / f"{name}.bat" for name in ("generate_cert", "revoke_cert")]
    for file in files:
        assert "Untested" in file.read_text()
        assert file.with_suffix(".sh").stat().st_mode & 0o111
