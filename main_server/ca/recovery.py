"""After the ledger was restored from a backup: what was revoked since is in the file of lists.

A list in the file that is newer than the ledger's own can only be from a time that the ledger has
forgotten. It is believed if it is signed by an intermediate of ours.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from sqlalchemy import Connection, Engine

from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.ca.authority import Authority
from main_server.ca.crl import Crl, Reason, next_number
from main_server.ca.revocation import renew_in
from main_server.ca.revoked import repository
from main_server.ca.revoked.repository import Selection
from main_server.database import transact

_END = b"-----END X509 CRL-----\n"


def recover(
    engine: Engine, authorities: Sequence[Authority], file: Path, now: datetime
) -> list[str]:
    """The serials that were revoked and had been forgotten."""
    found = [crl for crl in _lists(file) if (_issuer(crl, authorities))]
    return transact(engine, partial(_take_back, found=found, authorities=authorities, now=now))


def _take_back(
    connection: Connection,
    found: list[x509.CertificateRevocationList],
    authorities: Sequence[Authority],
    now: datetime,
) -> list[str]:
    number = next_number(repository.lock_number(connection), now)
    serials: list[str] = []
    for crl in found:
        issuer = _issuer(crl, authorities)
        assert issuer is not None
        known = repository.read_crl(connection, issuer.kid)
        if known is not None and known.number >= _number(crl):
            continue
        _remember(connection, crl, issuer)
        for one in crl:
            where = Selection(serial=f"{one.serial_number:032x}")
            serials += repository.mark_revoked(connection, where, _reason(one), number, now)
    if serials:
        renew_in(connection, authorities, number, now)
        entry = Entry(SYSTEM, "certificate.revoked", "restored ledger", None, {"serials": serials})
        audit.append(connection, entry, now)
    return serials


def _remember(
    connection: Connection, crl: x509.CertificateRevocationList, issuer: Authority
) -> None:
    """So that the next list's number is above the one that others have seen."""
    assert crl.next_update_utc is not None
    der = crl.public_bytes(Encoding.DER)
    repository.store_crl(
        connection,
        Crl(issuer.kid, _number(crl), der, crl.last_update_utc, crl.next_update_utc),
    )


def _lists(file: Path) -> list[x509.CertificateRevocationList]:
    try:
        blocks = file.read_bytes().split(_END)[:-1]
    except OSError:
        return []
    try:
        return [x509.load_pem_x509_crl(block + _END) for block in blocks]
    except ValueError:
        return []


def _issuer(
    crl: x509.CertificateRevocationList, authorities: Sequence[Authority]
) -> Authority | None:
    for authority in authorities:
        key = authority.certificate.public_key()
        if isinstance(key, ec.EllipticCurvePublicKey) and crl.is_signature_valid(key):
            return authority
    return None


def _number(crl: x509.CertificateRevocationList) -> int:
    return crl.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number


def _reason(one: x509.RevokedCertificate) -> Reason:
    try:
        return Reason(one.extensions.get_extension_for_class(x509.CRLReason).value.reason.value)
    except (x509.ExtensionNotFound, ValueError):
        return Reason.UNSPECIFIED
