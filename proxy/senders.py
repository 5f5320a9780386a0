"""The senders: the edge's view of the known clients, kept fresh from the main server.

Unknown means refused, whoever signed the certificate. A proxy that has not heard from a main server
for a while can't tell, and says so with 503: it may be new. One that has never heard refuses all.
"""

import time
from math import inf

from gatepost.errors import IdentityMismatch, Unavailable, UnknownCertificate
from gatepost.trust.identity import Certificate
from gatepost.wire.bundle import Bundle, KnownAnchor, KnownClient, KnownDomain
from gatepost.wire.renewal import SURE_SECONDS


class Senders:
    """The latest bundle, indexed by fingerprint."""

    def __init__(self) -> None:
        self._bundle: Bundle | None = None
        self._by_fingerprint: dict[str, KnownClient] = {}
        self._domains: dict[str, KnownDomain] = {}
        self._anchors: dict[str, KnownAnchor] = {}
        self._confirmed = -inf

    @property
    def problem(self) -> str | None:
        """The problem for /readyz: a bundle, even an older one, is enough to accept."""
        return None if self._bundle else "no bundle from the main server yet"

    @property
    def bundle(self) -> Bundle:
        if self._bundle is None:
            raise Unavailable("This proxy does not know its clients yet; try again in a moment.")
        return self._bundle

    def learn(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._by_fingerprint = {client.fingerprint: client for client in bundle.clients}
        self._domains = {domain.name: domain for domain in bundle.domains}
        self._anchors = {anchor.key: anchor for anchor in bundle.anchors}

    def confirm(self, asked: float) -> None:
        """Note that a main server that was asked at this (monotonic) time knows nothing newer."""
        self._confirmed = asked

    @property
    def anchors(self) -> list[bytes]:
        """The CAs that aren't ours and are trusted beside it, DER."""
        return [anchor.certificate for anchor in self._anchors.values()]

    def anchor_of(self, certificate: Certificate) -> KnownAnchor | None:
        """Return the anchor that the certificate is known to be of, or that has signed it; None if
        it is ours."""
        if not self._anchors:
            return None
        if (known := self._by_fingerprint.get(certificate.fingerprint)) is not None:
            return self._anchors.get(known.anchor or "")
        signed = (one for one in self._anchors.values() if certificate.is_issued_by(one.x509))
        return next(signed, None)

    def identify(self, certificate: Certificate, anchor: KnownAnchor | None = None) -> KnownClient:
        """Return the client that holds this certificate; its name must be the one that the ledger
        has. A certificate that isn't ours has its name from there, and needn't say it."""
        self.bundle  # noqa: B018 - without a bundle nobody can be told from anybody
        known = self._by_fingerprint.get(certificate.fingerprint)
        if known is None or known.domain not in self._domains:
            raise self._unknown()
        if anchor is None:
            agrees = known.anchor is None and certificate.caller == known.identity
        else:
            whole = (known.anchor, known.domain) == (anchor.key, anchor.domain)
            agrees = whole and certificate.named in (None, known.identity.uri)
        if not agrees:
            raise UnknownCertificate("The ledger knows this certificate under another name.")
        return known

    def domain_of(self, client: KnownClient) -> KnownDomain:
        """Return the client's domain; raise as for an unknown certificate where a new bundle has
        left it out: it may have been disabled since the client was identified."""
        domain = self._domains.get(client.domain)
        if domain is None:
            raise self._unknown()
        return domain

    def _unknown(self) -> UnknownCertificate | Unavailable:
        if time.monotonic() - self._confirmed > SURE_SECONDS:
            return Unavailable("This proxy can't tell just now who is known. Try again.")
        return UnknownCertificate()

    @property
    def domains(self) -> list[KnownDomain]:
        return list(self._domains.values())

    @property
    def note(self) -> str | None:
        """The domains from which nothing is taken in just now, in words; None if there are none."""
        shut = [domain.name for domain in self._domains.values() if domain.intake_paused]
        if not shut:
            return None
        whose = "all domains" if len(shut) == len(self._domains) else ", ".join(shut)
        return f"paused by hand for {whose}"

    def check_host(self, host: bytes | None, client: KnownClient) -> None:
        """Check that a Host that names a configured domain names the client's own."""
        if host is None:
            return
        name = host.decode("latin-1").rsplit(":", 1)[0].lower().rstrip(".")
        if name in self._domains and name != client.domain:
            raise IdentityMismatch("The Host names another domain than the certificate.")
