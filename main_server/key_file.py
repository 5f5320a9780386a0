"""The master key file: 32 bytes for each key, the first is the newest. It is its owner's alone.

It is written whole or not at all, and never loses a key that something is still wrapped under.
"""

import os
import stat
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from gatepost.errors import ConfigurationError
from gatepost.safety import is_credential, too_wide
from gatepost.whole_file import replace_file

KEY_BYTES = 32
_FEWEST_DIFFERENT_BYTES = 16
"""The fewest different bytes of a key: of 32 random bytes, fewer differ from one another once in
10^13 times."""


def read_keys(file: Path) -> list[bytes]:
    """Read the keys; refuse a file that others can read, and one that doesn't hold whole keys."""
    try:
        with file.open("rb") as stream:
            status = os.fstat(stream.fileno())
            data = stream.read()
    except OSError as error:
        raise ConfigurationError(f"the master key {file} can't be read: {error.strerror}") from None
    if status.st_mode & too_wide(file):
        raise ConfigurationError(f"the master key {file} can be read by others: chmod 400 {file}")
    if os.geteuid() not in (0, status.st_uid) and status.st_uid != 0:
        raise ConfigurationError(f"the master key {file} belongs to another user")
    if not data or len(data) % KEY_BYTES:
        raise ConfigurationError(
            f"the master key {file} must have {KEY_BYTES} bytes, or that for each of its keys: "
            f"head -c {KEY_BYTES} /dev/urandom > {file}"
        )
    return [data[start : start + KEY_BYTES] for start in range(0, len(data), KEY_BYTES)]


def key_file_faults(file: Path) -> list[str]:
    """List what must not be in production: keys that were not drawn, a folder that others get
    into."""
    try:
        keys = read_keys(file)
        folder = file.resolve().parent
        mode = folder.stat().st_mode
    except ConfigurationError as error:
        return [str(error)]
    faults = []
    if any(_is_sample(key) for key in keys):
        faults.append(f"the master key {file} is a sample, not {KEY_BYTES} random bytes")
    if not is_credential(file) and mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP):
        faults.append(f"the folder of the master key is open to others: chmod 700 {folder}")
    return faults


def write_keys(file: Path, keys: Sequence[bytes]) -> None:
    if is_credential(file):
        words = f"{file} is a systemd credential: give this command the file that it is made from"
        raise ConfigurationError(words)
    replace_file(file, b"".join(keys))


def _is_sample(key: bytes) -> bool:
    """Tell whether a key is zeros, a word over and over, a text, a sequence: nothing drawn at
    random."""
    steps = {(after - before) % 256 for before, after in pairwise(key)}
    as_text = all(0x20 <= byte < 0x7F for byte in key)
    return as_text or len(steps) == 1 or len(set(key)) < _FEWEST_DIFFERENT_BYTES
