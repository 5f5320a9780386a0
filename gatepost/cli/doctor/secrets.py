"""The secrets of this machine, to be searched for in what is given away: those that its settings
name, and all credentials beside them, whosever they are."""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from gatepost.cli.doctor.scrubbing import is_secret_name
from gatepost.cli.doctor.site import Site
from gatepost.config.settings import leaves, value_of
from gatepost.config.sources import BESIDE

SHORTEST = 6
"""The least length of a secret to search for; anything shorter stands everywhere."""
FILES = ("key_file", "passphrase_file", "master_key_file", "backup_passphrase_file")


def secrets_of(site: Site) -> set[bytes]:
    """Return the secrets that we may read: others can't have come into an archive either."""
    found = set(_credentials(site.folder))
    for _, settings in site.readable():
        for name, _info in leaves(type(settings)):
            value = value_of(settings, name)
            if isinstance(value, SecretStr):
                text = value.get_secret_value()
                found |= {text.encode(), unquote(_password(text)).encode()}
            elif isinstance(value, Path):
                found |= set(_of_path(value, name.split(".")[-1]))
            elif isinstance(value, Mapping):
                found |= {str(one).encode() for k, one in value.items() if is_secret_name(k)}
    return {one for one in found if len(one) >= SHORTEST}


def forms(secret: bytes) -> Iterator[bytes]:
    """Yield the forms in which a secret could stand in a text; for base64, the part that is the
    same wherever the secret begins."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for before in range(3):
        whole = base64.b64encode(bytes(before) + secret)
        yield whole[4 * ((before + 2) // 3) : 4 * ((before + len(secret)) // 3)]
    try:
        yield json.dumps(secret.decode())[1:-1].encode()
    except UnicodeDecodeError:
        return


def _credentials(folder: Path) -> Iterator[bytes]:
    """Yield the credentials beside the settings, even if these can't be used, and those of Redis's
    own operator, which no settings name."""
    for place in sorted(folder.glob(f"*/{BESIDE}/*")):
        yield from _contents(place)


def _of_path(path: Path, name: str) -> Iterator[bytes]:
    """Yield the content of a file that is secret, or of the keys in a folder."""
    try:
        files = sorted(path.glob("*.key")) if path.is_dir() else [path] if name in FILES else []
    except OSError:
        return
    for file in files:
        yield from _contents(file)


def _contents(file: Path) -> Iterator[bytes]:
    """Yield the content of a file as a whole, and then line by line, without PEM's frame."""
    try:
        content = file.read_bytes()
    except OSError:
        return
    yield content
    yield from (line for line in content.splitlines() if not line.startswith(b"-----"))


def _password(text: str) -> str:
    try:
        return urlsplit(text).password or ""
    except ValueError:
        return ""
