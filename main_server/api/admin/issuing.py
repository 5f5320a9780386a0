"""Issuing of certificates for administrators: to somebody by a name, or once more like an earlier
one."""

import base64
from datetime import timedelta

from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import BadOrder, Invalid
from gatepost.trust.identity import Identity, Role
from gatepost.wire.holders import CertificateOrder, IssuedCertificate, RenewalOrder
from main_server.api.admin.looking import find
from main_server.ca.authority import Usage
from main_server.ca.founding import read_pins
from main_server.ca.holders import place_holder
from main_server.ca.online import OnlineCa
from main_server.ca.pkcs12 import check_password, to_pkcs12
from main_server.ca.requests import Asked, grant, succeed
from main_server.ca.service import Certified, Issued
from main_server.people.administrator import Administrator


def issue(
    engine: Engine, ca: OnlineCa, wanted: CertificateOrder, asker: Administrator
) -> IssuedCertificate:
    asker.check_gives(wanted.role)
    _check(wanted)
    domain, name = place_holder(engine, wanted.client_id, asker.domain)
    asked = Asked(
        Identity(domain, wanted.role, name),
        _usage(wanted.usage),
        wanted.hosts,
        timedelta(days=wanted.days) if wanted.days is not None else None,
        _csr(wanted),
    )
    made = grant(engine, ca.authorities.signing, asked, ca.now(), asker.actor)
    return _issued(made, asked.identity, wanted.pkcs12_password, read_pins(ca.settings.folder))


def renew(
    engine: Engine, ca: OnlineCa, serial: str, wanted: RenewalOrder, asker: Administrator
) -> IssuedCertificate:
    row = find(engine, ca, serial, asker)
    asker.check_gives(Role(row.role))
    _check(wanted)
    made = succeed(engine, ca.authorities.signing, row, _csr(wanted), ca.now(), asker.actor)
    return _issued(made, row.identity, wanted.pkcs12_password, read_pins(ca.settings.folder))


def _check(wanted: CertificateOrder | RenewalOrder) -> None:
    """Check a PKCS#12 order before a certificate is issued whose key would be lost otherwise."""
    if wanted.pkcs12_password is not None:
        if wanted.csr is not None:
            raise Invalid("PKCS#12 holds the key, and a request doesn't bring it.")
        check_password(wanted.pkcs12_password)


def _csr(wanted: CertificateOrder | RenewalOrder) -> bytes | None:
    return wanted.csr.encode() if wanted.csr is not None else None


def _usage(name: str | None) -> Usage | None:
    if name is None:
        return None
    try:
        return Usage[name.upper()]
    except KeyError:
        raise BadOrder("A certificate's usage is client or server.") from None


def _issued(
    made: Certified, holder: Identity, password: str | None, pins: bytes
) -> IssuedCertificate:
    """Return the answer. The key is in it and nowhere else: it can't be had again."""
    own = made if isinstance(made, Issued) else None
    packed = to_pkcs12(own, holder.name, password) if own and password is not None else None
    return IssuedCertificate(
        cert=made.chain_pem.decode(),
        key=own.key_pem.decode() if own and packed is None else None,
        pkcs12=base64.b64encode(packed).decode() if packed else None,
        fingerprint=made.fingerprint,
        serial=made.serial,
        identity=holder.uri,
        not_after=iso(to_ms(made.certificate.not_valid_after_utc)),
        ca=pins.decode(),
    )
