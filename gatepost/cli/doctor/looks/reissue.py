"""Makes the command that puts a new certificate in the place of one that has expired.

A certificate that is still valid is renewed by whoever has it. An expired one lets nobody in to
ask: the CA issues another, on its own machine, with a new key.
"""

import grp
import os
import pwd
import shlex
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from gatepost.errors import BadIdentity
from gatepost.trust.certificates import find_extension
from gatepost.trust.identity import Certificate, Identity, Role


def reissue(leaf: x509.Certificate, cert: Path, key: Path, ca: Path | None) -> str:
    """Return the command. If the certificate is of another CA, the command shows which. `ca` is the
    file of the main server's settings, if there is one on this machine."""
    try:
        holder = Certificate(leaf.public_bytes(Encoding.DER)).identity
    except BadIdentity:
        return f"openssl x509 -noout -issuer -subject -enddate -in {shlex.quote(str(cert))}"
    new = cert.with_name(f"{cert.name}.new")
    there = ["--out", str(new), *(("--config", str(ca)) if ca is not None else ())]
    moves = [(new / f"{holder.name}.key", key, "600"), (new / f"{holder.name}.pem", cert, "644")]
    return " && ".join(
        [
            shlex.join(["gatepost", "cert", "issue", *_wanted(holder, leaf), *there]),
            *(shlex.join(["install", "-m", m, *_owner(cert), str(a), str(b)]) for a, b, m in moves),
            shlex.join(["rm", "-r", str(new)]),
        ]
    )


def _wanted(holder: Identity, leaf: x509.Certificate) -> list[str]:
    usages = find_extension(leaf, x509.ExtendedKeyUsage)
    is_called = usages is not None and ExtendedKeyUsageOID.SERVER_AUTH in usages
    words = [f"{holder.domain}:{holder.name}", "--role", holder.role.value]
    if holder.role in (Role.PROXY, Role.PORTAL):
        words += ["--usage", "server" if is_called else "client"]
    hosts = _hosts(leaf) if is_called else []
    return [*words, *(word for host in hosts for word in ("--host", host))]


def _hosts(leaf: x509.Certificate) -> list[str]:
    names = find_extension(leaf, x509.SubjectAlternativeName)
    if names is None:
        return []
    addresses = names.get_values_for_type(x509.IPAddress)
    return [*names.get_values_for_type(x509.DNSName), *map(str, addresses)]


def _owner(cert: Path) -> list[str]:
    """Return the options that name the certificate's owner; none if it is ours."""
    status = cert.stat()
    if status.st_uid == os.geteuid():
        return []
    try:
        user, group = pwd.getpwuid(status.st_uid).pw_name, grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        user, group = str(status.st_uid), str(status.st_gid)
    return ["-o", user, "-g", group]
