"""Finds Chromium for the tests: the machine's own, or the distribution's unpacked by us.

Playwright would fetch a browser of its own from its own host; this one comes from where everything
else of the machine does.
"""

import base64
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from infra.dev import apt
from infra.dev.engines.find import clean_environment, libraries_of
from infra.dev.paths import ENGINES
from infra.dev.private import write_private
from infra.dev.steps import Failure, run, step

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LEAST = 120
"""The least version that will do: Playwright speaks to browsers of its own time, and older ones
lack what our style sheet uses, too."""
PACKAGES = ("chromium", "fonts-liberation")
"""The packages to unpack: Chromium draws text only with a font, and which one decides how wide a
page gets."""
PROGRAM = Path("usr/lib/chromium/chromium")
NO_CHROMIUM = """\
There is no Chromium 120 or later on this machine, and none could be unpacked.
The tests look at the portal in it. Install it: apt-get install chromium"""
FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>{root}/usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>{root}/font-cache</cachedir>
  <alias binding="same">
    <family>monospace</family><prefer><family>Liberation Mono</family></prefer>
  </alias>
  <match><edit name="family" mode="append_last"><string>Liberation Sans</string></edit></match>
</fontconfig>
"""
"""The settings of fonts. Without them, what a page calls the system's own font would be any that
the machine has: with or without serifs, with or without bold letters, and as wide as it likes."""
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--lang=en-GB",
    "--no-first-run",
)
_VERSION = re.compile(r"(\d+)\.\d[\d.]*")


@dataclass(frozen=True)
class Chromium:
    """The program, and the environment that it runs in."""

    program: Path
    version: str
    environment: Mapping[str, str] = field(repr=False)

    def __str__(self) -> str:
        return f"Chromium {self.version}"

    def options(self, ca: Path) -> dict[str, Any]:
        """Return the options with which Playwright launches it. It trusts that CA by its keys, as
        if a person had told it to, and nobody else's; and it asks nobody for anything by itself."""
        known = ",".join(_keys_of(ca))
        return {
            "executable_path": self.program,
            "env": dict(self.environment),
            "args": [*QUIET, f"--ignore-certificate-errors-spki-list={known}"],
        }


def find_chromium(folder: Path = ENGINES / "chromium") -> Chromium:
    try:
        found = _on_this_machine() or _unpacked(folder)
    except Failure as failure:
        raise Failure(f"{failure}\n{NO_CHROMIUM}") from None
    if found is None:
        raise Failure(NO_CHROMIUM)
    return found


def _keys_of(file: Path) -> list[str]:
    """Return the public keys of the certificates in a file, as Chromium names them."""
    found = x509.load_pem_x509_certificates(file.read_bytes())
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    keys = [one.public_key().public_bytes(*form) for one in found]
    return [base64.b64encode(sha256(key).digest()).decode() for key in keys]


def _on_this_machine() -> Chromium | None:
    for name in NAMES:
        if (program := shutil.which(name)) and (found := _chromium(Path(program), {})):
            return found
    return None


def _unpacked(folder: Path) -> Chromium | None:
    if not folder.exists():
        if not apt.available():
            return None
        with step("unpacking chromium"):
            apt.unpack(PACKAGES, folder)
    fonts = folder / "fonts.conf"
    write_private(fonts, FONTS.format(root=folder))
    where = {"LD_LIBRARY_PATH": libraries_of(folder), "FONTCONFIG_FILE": str(fonts)}
    return _chromium(folder / PROGRAM, where)


def _chromium(program: Path, extra: Mapping[str, str]) -> Chromium | None:
    """Return the program as a Chromium, if it runs and is recent enough."""
    environment = {**clean_environment(), **extra}
    environment.setdefault("HOME", os.devnull)
    try:
        said = run("asking for the version", [str(program), "--version"], environment=environment)
    except Failure:
        return None
    match = _VERSION.search(said)
    if match is None or int(match[1]) < LEAST:
        return None
    return Chromium(program, match[0], environment)
