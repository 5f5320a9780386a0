"""Makes TLS contexts: version 1.3 only, keys from elliptic curves only, a certificate from both
sides, no resumption.

A session resumed by ticket would skip every check of the certificate, so servers issue no tickets.
A caller requires the role of the server that it calls, in the handshake, before a byte is sent
(I9).
"""

import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cryptography import x509

from gatepost.errors import BadIdentity, ConfigurationError
from gatepost.trust.certificates import Unreadable, key_of, read_certificates
from gatepost.trust.identity import Certificate, Role
from gatepost.trust.key_exchange import check_curves, keep_to_curves


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Our certificate (leaf and intermediate), its key, and the root that we trust."""

    cert_file: Path
    key_file: Path
    ca_file: Path

    @property
    def all(self) -> tuple[Path, Path, Path]:
        return self.cert_file, self.key_file, self.ca_file


def server_context(
    files: TlsFiles, refused: Callable[[str], None], anchors: Iterable[bytes] = ()
) -> ssl.SSLContext:
    """Return the context of a port that only certificates of our CA may use, and of these `anchors`
    (DER), which aren't ours; `refused` hears why one was turned away."""
    context = browser_context(files, refused)
    context.verify_mode = ssl.CERT_REQUIRED
    _trust(context, anchors)
    return context


def browser_context(files: TlsFiles, refused: Callable[[str], None]) -> ssl.SSLContext:
    """Return the context of the port that browsers come to: people have no certificates, they sign
    in."""
    context = _context(ssl.PROTOCOL_TLS_SERVER, files)
    context.num_tickets = 0
    check_curves(context)
    context.sslobject_class = _reporting(refused)
    return context


Refusal = Callable[[Certificate], str | None]
"""A function that says why a certificate that TLS has verified is refused all the same; None if it
isn't."""


def client_context(
    files: TlsFiles, expect: Role | None = None, refusal: Refusal = lambda _: None
) -> ssl.SSLContext:
    """Return the context for calls to a server whose certificate must carry the role `expect`, and
    be unrefused."""
    context = _context(ssl.PROTOCOL_TLS_CLIENT, files)
    if expect is not None:
        context.sslobject_class = _expecting(ssl.SSLObject, expect, refusal)
        context.sslsocket_class = _expecting(ssl.SSLSocket, expect, refusal)
    return context


def read_trusted(ca_file: Path) -> list[x509.Certificate]:
    """Return the CA certificates that are pinned: those of roots, and of the intermediates that
    sign for us."""
    with _usable(ca_file):
        found = read_certificates(ca_file.read_bytes())
        for one in found:
            key_of(one)
        return found


def check_files(files: TlsFiles) -> None:
    """Check the files; raise ConfigurationError if they can't be used, or don't belong together."""
    _context(ssl.PROTOCOL_TLS_CLIENT, files)


def check_shown(files: TlsFiles) -> None:
    """Check the files of a port in the same way, and that it keeps to the groups that it is
    told."""
    browser_context(files, lambda _: None)


class Port(ssl.SSLContext):
    """The context that an event loop is given once, to listen with: each handshake begins with the
    context that was made last, and what is open goes on with its own. So what is trusted no more is
    forgotten, which OpenSSL does in no context."""

    def __new__(cls, _make: Callable[[], ssl.SSLContext]) -> Self:
        return super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)

    def __init__(self, make: Callable[[], ssl.SSLContext]) -> None:
        self._make = make
        self.current = make()
        self.verify_mode = self.current.verify_mode

    def renew(self) -> None:
        """Make the context anew; raise ConfigurationError, and change nothing, if it can't be
        made."""
        self.current = self._make()

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        return self.current.wrap_bio(*args, **kwargs)


def _reporting(refused: Callable[[str], None]) -> type[ssl.SSLObject]:
    """Return a class of TLS objects that report a failed handshake themselves, as under uvloop it
    reaches no log. And both event loops drop what a failed handshake still has to say, so that a
    client would see nothing but a lost connection and could not know whether its message was taken:
    so after the failure of a certificate, or of what keys are exchanged by, "wants to read" is
    answered first, which sends the alert, and the failure the next time. A peer that doesn't speak
    TLS at all is hung up on at once.
    """

    class Reporting(ssl.SSLObject):
        failure: ssl.SSLError | None = None

        def do_handshake(self) -> None:
            if self.failure is not None:
                raise self.failure
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError as error:
                verify = getattr(error, "verify_message", None)
                reason = (error.reason or "handshake failed").lower().replace("_", " ")
                refused(verify or reason)
                if not any(word in reason for word in _TOLD):
                    raise
                self.failure = error
                raise ssl.SSLWantReadError from None

        def getpeercert(self, binary_form: bool = False) -> Any:
            """Return the peer's certificate, and report if it can't be read. Event loops ask for it
            when the handshake is over; a failure would reach no log."""
            try:
                return super().getpeercert(binary_form)
            except ValueError:
                refused("the certificate's names can't be read")
                raise

    return Reporting


_TOLD = ("certificate", "key share", "groups")
"""The words in OpenSSL's reasons for the failures of a handshake that the peer is told of."""


def _expecting(base: Any, role: Role, refusal: Refusal) -> Any:
    class Expecting(base):  # type: ignore[misc]
        def do_handshake(self, *args: Any, **kwargs: Any) -> None:
            super().do_handshake(*args, **kwargs)
            certificate = Certificate(self.getpeercert(binary_form=True))
            found = "nothing of ours"
            try:
                identity = certificate.server
                found = identity.uri
            except BadIdentity:
                identity = None
            if identity is None or identity.role is not role:
                raise ssl.SSLCertVerificationError(f"expected the role {role}, met {found}")
            if why := refusal(certificate):
                raise ssl.SSLCertVerificationError(f"{found} is refused: {why}")

    return Expecting


def _context(protocol: int, files: TlsFiles) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    keep_to_curves(context)
    with _usable(files.cert_file, files.key_file):
        context.load_cert_chain(files.cert_file, files.key_file)
    with _usable(files.ca_file):
        context.load_verify_locations(files.ca_file)
    return context


def _trust(context: ssl.SSLContext, anchors: Iterable[bytes]) -> None:
    for anchor in anchors:
        with _usable("a trust anchor"):
            context.load_verify_locations(cadata=anchor)
        # It may itself be signed by a CA that nobody here trusts.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


@contextmanager
def _usable(*paths: Path | str) -> Iterator[None]:
    """Raise ConfigurationError that says what can't be used, and why, if something fails."""
    try:
        yield
    except (OSError, ssl.SSLError, ValueError, Unreadable) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
        reason = reason or "it is not PEM"
        names = " and ".join(str(path) for path in paths)
        raise ConfigurationError(f"{names} can't be used: {reason}") from None
