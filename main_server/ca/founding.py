"""Found the CA, and replace its intermediate while everything runs.

    root            its key can be taken offline: it is needed to make an intermediate only
    intermediate    signs
    next            trusted already, so that whoever checks knows it before it signs
    retiring        trusted still, and its list is signed, until what it signed is replaced

`prepare` makes the next one, `switch` lets it sign, `retire` ends the one before. Each can be run
again where it was interrupted.
"""

from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from gatepost.errors import ConfigurationError
from gatepost.whole_file import replace_file
from main_server.ca import parts
from main_server.ca.authority import (
    BACKDATE,
    Authority,
    new_key,
    new_serial,
    read_files,
    read_key,
    read_pair,
)

ROOT_DAYS, INTERMEDIATE_DAYS = 3650, 1825
PINNED = ("root", "intermediate", "next", "retiring")


def init_authority(folder: Path, now: datetime) -> bool:
    """Make root and intermediate, unless they are there; return whether any was made.

    A key that is there is never replaced: something may be signed by it.
    """
    if (folder / "intermediate.pem").exists():
        return False
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / "root.pem").exists():
        made = _key_in(folder, "root")
        _write(folder, "root", made, _sign("Gatepost Root", made, None, made, now))
    root, root_key = _read_root(folder)
    key = _key_in(folder, "intermediate")
    _make_intermediate(folder, "intermediate", key, root, root_key, now)
    return True


def prepare(folder: Path, now: datetime) -> Authority:
    """Return the next intermediate; to make it, the root's key must be there."""
    if (folder / "retiring.pem").exists():
        raise ConfigurationError("one intermediate is retiring: run `gatepost ca retire` first")
    if not (folder / "next.pem").exists():
        root, key = _read_root(folder)
        _make_intermediate(folder, "next", new_key(), root, key, now)
    return read_pair(folder, "next")


def switch(folder: Path) -> Authority:
    """Let the next intermediate sign from now on; the one before is retiring."""
    if not (folder / "next.pem").exists():
        if (folder / "retiring.pem").exists():
            return read_pair(folder, "intermediate")  # it was switched before
        raise ConfigurationError("no intermediate is prepared: run `gatepost ca prepare` first")
    if not (folder / "retiring.pem").exists():
        _copy(folder, "intermediate", "retiring")
    _copy(folder, "next", "intermediate")
    _remove(folder, "next")
    return read_pair(folder, "intermediate")


def retire(folder: Path) -> bool:
    """Forget the retiring intermediate, whose certificates are revoked already; return whether
    there was one."""
    return _remove(folder, "retiring")


def read_pins(folder: Path) -> bytes:
    """Return what peers trust: the root, and each intermediate that may have signed now."""
    found = b""
    for name in PINNED:
        try:
            found += (folder / f"{name}.pem").read_bytes()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise ConfigurationError(f"{error.filename} can't be read: {error.strerror}") from None
    return found


def _read_root(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    if not (folder / "root.key").exists():
        words = "bring it here for this command, and take it away again"
        raise ConfigurationError(f"{folder / 'root.key'} is not there: {words}")
    return read_files(folder, "root")


def _key_in(folder: Path, name: str) -> ec.EllipticCurvePrivateKey:
    """Return the key that is there, or a new one."""
    file = folder / f"{name}.key"
    return read_key(file) if file.exists() else new_key()


def _make_intermediate(
    folder: Path,
    name: str,
    key: ec.EllipticCurvePrivateKey,
    root: x509.Certificate,
    root_key: ec.EllipticCurvePrivateKey,
    now: datetime,
) -> None:
    kid = x509.SubjectKeyIdentifier.from_public_key(key.public_key()).digest.hex()
    subject = f"Gatepost Intermediate {kid[:8]}"
    _write(folder, name, key, _sign(subject, key, root, root_key, now))


def _sign(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
    issuer_key: ec.EllipticCurvePrivateKey,
    now: datetime,
) -> x509.Certificate:
    days, path_length = (INTERMEDIATE_DAYS, 0) if issuer else (ROOT_DAYS, 1)
    builder = (
        parts.begin(name, key.public_key(), new_serial())
        .issuer_name(issuer.subject if issuer else parts.common_name(name))
        .not_valid_before(now - BACKDATE)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=path_length), critical=True)
        .add_extension(parts.key_usage(signs=True), critical=True)
        .add_extension(parts.authority_key(issuer_key.public_key()), critical=False)
    )
    return builder.sign(issuer_key, hashes.SHA256())


def _write(
    folder: Path, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate
) -> None:
    """Write key and certificate; the certificate last, since it says that both are there."""
    replace_file(folder / f"{name}.key", parts.key_to_pem(key))
    replace_file(folder / f"{name}.pem", parts.to_pem(certificate))


def _copy(folder: Path, source: str, target: str) -> None:
    """Copy a pair; a key that is missing was copied already, and so was its certificate."""
    for part in ("key", "pem"):
        file = folder / f"{source}.{part}"
        if file.exists():
            replace_file(folder / f"{target}.{part}", file.read_bytes())


def _remove(folder: Path, name: str) -> bool:
    """Remove a pair, and return whether there was any of it; the key first, which is what must not
    be left behind. Without it the other file counts as gone (main_server.ca.authorities)."""
    files = [folder / f"{name}.{part}" for part in ("key", "pem")]
    there = [file for file in files if file.exists()]
    for file in there:
        file.unlink()
    return bool(there)
