"""The bad certificates: what each is, and the reason for which it has to be refused.

TLS tells some of them, by OpenSSL's words; we tell the others. All of them but a few are signed by
our own intermediate, and say the name of somebody whom the ledger knows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from gatepost.trust.identity import OURS_ALONE, Identity
from main_server.ca.authority import utc_now
from main_server.ca.founding import init_authority
from tests.forging import (
    CLIENT_AUTH,
    SERVER_AUTH,
    Form,
    Signer,
    by_openssl,
    der_uri,
    pem_of,
    read_signer,
    sign,
    subordinate,
)

Made = tuple[bytes, bytes]
"""The chain and the key, as PEM."""

KEY = "the certificate's key is none of P-256, P-384 and RSA from 3072"
PURPOSE = "the certificate's extended key usage is not the one that is wanted"
USAGE = "the certificate's key usage is not that of a signature alone"
URI = "the SAN URI is not gatepost://<domain>/<role>/<name>"
DOMAIN = "a domain is lower-case ASCII labels joined by dots"
NAME = "a name is 1 to 64 ASCII letters, digits, '_' and '-'"
NO_SAN = "the certificate has a common name alone, no SAN URI: get a new one by 'gatepost enrol'"
UNSUITABLE = "unsuitable certificate purpose"
NO_ISSUER = "unable to get local issuer certificate"
UNKNOWN = "This certificate is not known here: it was not issued by us, or it was withdrawn."
UNPINNED = "Nobody here knows which certificates its issuer has revoked."


@dataclass(frozen=True)
class Forge:
    """Our own CA in the wrong hands, and whom its certificates pretend to be."""

    ca: Path
    folder: Path
    holder: Identity

    @property
    def ours(self) -> Signer:
        return read_signer(self.ca, "intermediate")

    @property
    def root(self) -> Signer:
        return read_signer(self.ca, "root")

    def form(self, **given: Any) -> Form:
        return replace(Form(self.ours, uris=(self.holder.uri,)), **given)

    def make(self, **given: Any) -> Made:
        form = self.form(**given)
        certificate, key = sign(form)
        return certificate.public_bytes(serialization.Encoding.PEM) + form.signer.chain, pem_of(key)

    def named(self, uri: str) -> Made:
        return self.make(uris=(uri.format(domain=self.holder.domain, name=self.holder.name),))

    def elsewhere(self) -> Signer:
        """The root of another CA."""
        folder = self.folder / "elsewhere"
        init_authority(folder, utc_now())
        return read_signer(folder, "root")

    def namesake(self) -> Signer:
        """An intermediate of that one, which has the name of ours."""
        [name] = self.ours.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        made = subordinate(self.elsewhere(), name=str(name.value))
        return replace(made, chain=made.certificate.public_bytes(serialization.Encoding.PEM))


@dataclass(frozen=True)
class Bad:
    what: str
    reason: str
    make: Callable[[Forge], Made]


def given(**parts: Any) -> Callable[[Forge], Made]:
    return lambda forge: forge.make(**parts)


def uri(text: str) -> Callable[[Forge], Made]:
    return lambda forge: forge.named(text)


def behind(raw: bytes) -> Callable[[Forge], Made]:
    """A good URI, and these bytes behind it."""
    return lambda forge: forge.make(raw_names=der_uri(forge.holder.uri.encode() + raw))


def below(**parts: Any) -> Callable[[Forge], Made]:
    """Signed by a CA of our root that isn't our intermediate."""
    return lambda forge: forge.make(signer=subordinate(forge.root, **parts))


def _own(forge: Forge) -> Made:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate, _ = sign(forge.form(key=lambda: key))
    own = Signer(certificate, key, b"")
    again, _ = sign(forge.form(signer=own, key=lambda: key))
    return again.public_bytes(serialization.Encoding.PEM), pem_of(key)


def _by_a_leaf(forge: Forge) -> Made:
    certificate, key = sign(forge.form(name="leaf"))
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    return forge.make(signer=Signer(certificate, key, pem + forge.ours.chain))


def _flipped(forge: Forge) -> Made:
    """Its last byte is that of the signature."""
    certificate, key = sign(forge.form())
    der = bytearray(certificate.public_bytes(serialization.Encoding.DER))
    der[-1] ^= 1
    wrong = x509.load_der_x509_certificate(bytes(der))
    return wrong.public_bytes(serialization.Encoding.PEM) + forge.ours.chain, pem_of(key)


def _ca_itself(name: str) -> Callable[[Forge], Made]:
    def make(forge: Forge) -> Made:
        signer = read_signer(forge.ca, name)
        return signer.chain, pem_of(signer.key)

    return make


def _sha1(forge: Forge) -> Made:
    said = f"subjectAltName=URI:{forge.holder.uri}\nextendedKeyUsage=clientAuth\n"
    return by_openssl(forge.ours, forge.folder, said, "-sha1")


def _ec(curve: ec.EllipticCurve) -> Callable[[], Any]:
    return lambda: ec.generate_private_key(curve)


def _rsa(bits: int) -> Callable[[], Any]:
    return lambda: rsa.generate_private_key(65537, bits)


def _chains() -> Iterator[Bad]:
    day = timedelta(days=1)
    yield Bad("signed by itself", "self-signed certificate", _own)
    yield Bad(
        "another CA of the same name",
        NO_ISSUER,
        lambda f: f.make(signer=f.namesake()),
    )
    yield Bad(
        "another CA of the same name that doesn't say its key",
        "certificate signature failure",
        lambda f: f.make(signer=f.namesake(), names_issuer=False),
    )
    yield Bad(
        "another CA's root",
        "self-signed certificate in certificate chain",
        lambda f: f.make(signer=f.elsewhere()),
    )
    yield Bad("altered after it was signed", "certificate signature failure", _flipped)
    yield Bad("expired", "certificate has expired", given(ends=timedelta(seconds=-1)))
    yield Bad("expired long ago", "certificate has expired", given(begins=-2 * day, ends=-day))
    yield Bad("not yet valid", "certificate is not yet valid", given(begins=day, ends=2 * day))
    yield Bad("signed by a leaf", "invalid CA certificate", _by_a_leaf)
    yield Bad(
        "a CA below our intermediate",
        "path length constraint exceeded",
        lambda f: f.make(signer=subordinate(f.ours)),
    )
    yield Bad("a CA of our root that nobody has pinned", UNPINNED, below())
    yield Bad("a CA that has expired", "certificate has expired", below(begins=-2 * day, ends=-day))
    yield Bad(
        "a CA that isn't valid yet",
        "certificate is not yet valid",
        below(begins=day, ends=2 * day),
    )
    yield Bad("a CA of a weak key", "CA certificate key too weak", below(key=_rsa(1024)))
    yield Bad("a CA that may not sign", "invalid CA certificate", below(usages=("crl_sign",)))
    yield Bad("a CA for servers only", UNSUITABLE, below(purposes=(SERVER_AUTH,)))
    yield Bad("our root's own", UNSUITABLE, _ca_itself("root"))
    yield Bad("our intermediate's own", UNSUITABLE, _ca_itself("intermediate"))


def _kinds() -> Iterator[Bad]:
    any_use, sign_code = ObjectIdentifier("2.5.29.37.0"), ExtendedKeyUsageOID.CODE_SIGNING
    both = (CLIENT_AUTH, SERVER_AUTH)
    critical = x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\x00")
    yield Bad(
        "version 1",
        "the certificate is not of version 3",
        lambda f: by_openssl(f.ours, f.folder, None),
    )
    yield Bad("no purpose", "the certificate has no extended key usage", given(purposes=None))
    yield Bad("for servers only", UNSUITABLE, given(purposes=(SERVER_AUTH,)))
    yield Bad("any purpose", UNSUITABLE, given(purposes=(any_use,)))
    yield Bad("for signing code only", UNSUITABLE, given(purposes=(sign_code,)))
    yield Bad("for OCSP only", UNSUITABLE, given(purposes=(ExtendedKeyUsageOID.OCSP_SIGNING,)))
    yield Bad("for servers too", PURPOSE, given(purposes=both))
    yield Bad("for signing code too", PURPOSE, given(purposes=(CLIENT_AUTH, sign_code)))
    yield Bad("any purpose too", PURPOSE, given(purposes=(CLIENT_AUTH, any_use)))
    yield Bad("says that it is a CA", "the certificate is that of a CA", given(ca=True))
    yield Bad("no key usage", USAGE, given(usages=None))
    yield Bad("may agree on keys only", USAGE, given(usages=("key_agreement",)))
    yield Bad("may encrypt only", UNSUITABLE, given(usages=("key_encipherment",)))
    yield Bad("may sign certificates", USAGE, given(usages=("digital_signature", "key_cert_sign")))
    yield Bad(
        "says something critical that nobody knows",
        "unhandled critical extension",
        given(more=((critical, True),)),
    )
    yield Bad("RSA of 1024 bits", "EE certificate key too weak", given(key=_rsa(1024)))
    yield Bad("RSA of 2048 bits", KEY, given(key=_rsa(2048)))
    yield Bad("P-521", KEY, given(key=_ec(ec.SECP521R1())))
    yield Bad("Ed25519", KEY, given(key=ed25519.Ed25519PrivateKey.generate))
    yield Bad("Ed448", KEY, given(key=ed448.Ed448PrivateKey.generate))
    yield Bad("SHA-1", "CA signature digest algorithm too weak", _sha1)
    yield Bad(
        "SHA-224",
        "the certificate's signature is not by SHA-256 or better",
        given(digest=hashes.SHA224()),
    )


def _names() -> Iterator[Bad]:
    other = "gatepost://{domain}/client/someone_else"
    own = "gatepost://{domain}/client/{name}"
    yield Bad("a common name alone", NO_SAN, given(uris=()))
    yield Bad(
        "a DNS name alone",
        "the certificate has 0 SAN URIs instead of one",
        given(uris=(), names=(x509.DNSName("client_001.example.com"),)),
    )
    yield Bad(
        "an address alone",
        "the certificate has 0 SAN URIs instead of one",
        given(uris=(), names=(x509.RFC822Name("client_001@example.com"),)),
    )
    yield Bad(
        "two URIs",
        "the certificate has 2 SAN URIs instead of one",
        lambda f: f.make(uris=(f.holder.uri, "gatepost://gatepost/admin/admin")),
    )
    yield Bad(
        "the same URI twice",
        "the certificate has 2 SAN URIs instead of one",
        lambda f: f.make(uris=(f.holder.uri, f.holder.uri)),
    )
    for what, raw in {
        "a NUL behind the name": b"\0",
        "a NUL and another name": b"\0_else",
        "a homoglyph": "\u0430".encode(),
        "a high byte": b"\xff",
        "a newline": b"\n",
    }.items():
        reason = "the certificate's names can't be read" if raw == b"\xff" else NAME
        yield Bad(what, reason, behind(raw))
    forms = {
        "a wildcard for the name": ("gatepost://{domain}/client/*", NAME),
        "a wildcard for the domain": ("gatepost://*/client/{name}", DOMAIN),
        "a wildcard for a label": ("gatepost://*.{domain}/client/{name}", DOMAIN),
        "an upper-case domain": ("gatepost://EXAMPLE.com/client/{name}", DOMAIN),
        "an upper-case role": ("gatepost://{domain}/Client/{name}", URI),
        "an upper-case scheme": ("GATEPOST://{domain}/client/{name}", URI),
        "another scheme": ("https://{domain}/client/{name}", URI),
        "SPIFFE": ("spiffe://{domain}/client/{name}", URI),
        "no scheme": ("{domain}/client/{name}", URI),
        "an unknown role": ("gatepost://{domain}/root/{name}", URI),
        "no role": ("gatepost://{domain}/{name}", URI),
        "no name": ("gatepost://{domain}/client/", NAME),
        "no domain": ("gatepost:///client/{name}", DOMAIN),
        "one part more": (own + "/more", URI),
        "a slash behind": (own + "/", URI),
        "a query": (own + "?admin", NAME),
        "a fragment": (own + "#admin", NAME),
        "a user before the domain": ("gatepost://admin@{domain}/client/{name}", DOMAIN),
        "a port behind the domain": ("gatepost://{domain}:8001/client/{name}", DOMAIN),
        "a dot behind the domain": ("gatepost://{domain}./client/{name}", DOMAIN),
        "a domain in Punycode": ("gatepost://xn--exmple-cua.com/client/{name}", UNKNOWN),
        "an escaped name": ("gatepost://{domain}/client/client%5F001", NAME),
        "a path for a name": ("gatepost://{domain}/client/..", NAME),
        "a name with a dot": ("gatepost://{domain}/client/a.b", NAME),
        "a name with a colon": ("gatepost://{domain}/client/other:{name}", NAME),
        "a name with a blank": ("gatepost://{domain}/client/{name} x", NAME),
        "a name like an option": ("gatepost://{domain}/client/-rf", NAME),
        "a name that is too long": ("gatepost://{domain}/client/" + "a" * 65, NAME),
        "a domain that is too long": ("gatepost://" + "a." * 70 + "com/client/{name}", DOMAIN),
    }
    for what, (text, reason) in forms.items():
        yield Bad(what, reason, uri(text))
    for role in OURS_ALONE:
        reason = f"the role {role} is for the domain gatepost alone"
        named = uri(f"gatepost://example.com/{role}/{{name}}")
        yield Bad(f"a {role} of a partner's domain", reason, named)
    yield Bad("somebody whom nobody knows", UNKNOWN, uri(other))
    yield Bad(
        "the same name of another domain", UNKNOWN, uri("gatepost://other.example/client/{name}")
    )
    yield Bad("a known name, issued past the ledger", UNKNOWN, given())


BAD = [*_chains(), *_kinds(), *_names()]
