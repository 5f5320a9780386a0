"""The form of a key backup: a line that says how it is sealed, then AES-256-GCM.

    gatepost-keys-1 master <id>                 nonce (12) | ciphertext
    gatepost-keys-1 passphrase <salt, hex>      nonce (12) | ciphertext

The line is bound to what follows it. A passphrase is stretched by scrypt.
"""

import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from gatepost.errors import ConfigurationError, KeysUnavailable
from main_server.key_file import KEY_BYTES
from main_server.keys.master import MasterKey, MasterKeys

_FORM = "gatepost-keys-1"
_SCRYPT = {"length": KEY_BYTES, "n": 2**17, "r": 8, "p": 1}
_FEWEST_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Sealing:
    """The means by which backups are sealed: a passphrase if there is one, otherwise the master
    key."""

    masters: MasterKeys
    passphrase: bytes | None = None


def read_passphrase(file: Path | None) -> bytes | None:
    if file is None:
        return None
    try:
        passphrase = file.read_bytes().strip()
    except OSError as error:
        raise ConfigurationError(f"the passphrase {file} can't be read: {error.strerror}") from None
    if len(passphrase) < _FEWEST_CHARACTERS:
        words = f"the passphrase in {file} must have {_FEWEST_CHARACTERS} characters at least"
        raise ConfigurationError(words)
    return passphrase


def seal_backup(sealing: Sealing, master_kid: bytes, content: bytes) -> bytes:
    if sealing.passphrase is None:
        key, how = sealing.masters.get(master_kid), f"master {master_kid.hex()}"
    else:
        salt = secrets.token_bytes(16)
        key, how = MasterKey(stretch(sealing.passphrase, salt)), f"passphrase {salt.hex()}"
    line = f"{_FORM} {how}\n".encode()
    return line + key.wrap(content, line)


def open_backup(sealing: Sealing, backup: bytes) -> bytes:
    line, end, sealed = backup[:100].partition(b"\n")
    form, _, rest = line.partition(b" ")
    how, _, name = rest.partition(b" ")
    if form != _FORM.encode() or not end:
        raise ConfigurationError("this is not a backup of keys")
    try:
        kid_or_salt = bytes.fromhex(name.decode())
    except ValueError:
        raise ConfigurationError("this is not a backup of keys") from None
    sealed = backup[len(line) + 1 :]
    if how == b"master":
        key = sealing.masters.get(kid_or_salt)
    elif sealing.passphrase is not None:
        key = MasterKey(stretch(sealing.passphrase, kid_or_salt))
    else:
        raise ConfigurationError("this backup is sealed by a passphrase: --passphrase-file FILE")
    try:
        return key.unwrap(sealed, line + b"\n")
    except KeysUnavailable:
        words = "the backup can't be opened: it was altered, or the passphrase is another"
        raise ConfigurationError(words) from None


def is_of_keys(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(_FORM) + 1) == f"{_FORM} ".encode()


def stretch(passphrase: bytes, salt: bytes) -> bytes:
    """Derive a key of 32 bytes. It takes a third of a second and 128 MiB: for whoever guesses,
    too."""
    return Scrypt(salt=salt, **_SCRYPT).derive(passphrase)
