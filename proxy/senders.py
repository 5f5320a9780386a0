"""Who may send: the edge's view of the known clients, kept fresh from the main server.

Unknown means refused, whoever signed the certificate. A proxy that has never had a bundle refuses
all, with 503: it can't tell.
"""

import asyncio

import httpx
import msgspec

from gatepost.bundle import Bundle, KnownClient, decode_bundle
from gatepost.errors import BadIdentity, IdentityMismatch, Unavailable, UnknownCertificate
from gatepost.identity import Certificate
from gatepost.logs import Log
from gatepost.loops import pause

REFRESH_SECONDS = 1.0


class Senders:
    """The latest bundle, indexed by fingerprint."""

    def __init__(self) -> None:
        self._bundle: Bundle | None = None
        self._by_fingerprint: dict[str, KnownClient] = {}
        self._domains: dict[str, str | None] = {}
        self.problem: str | None = "no bundle from the main server yet"

    @property
    def bundle(self) -> Bundle:
        if self._bundle is None:
            raise Unavailable("This proxy does not know its clients yet; try again in a moment.")
        return self._bundle

    def learn(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._by_fingerprint = {client.fingerprint: client for client in bundle.clients}
        self._domains = {domain.name: domain.queue for domain in bundle.domains}

    def identify(self, certificate: Certificate) -> KnownClient:
        """The client that holds this certificate; its name must be the one that the ledger has."""
        self.bundle  # noqa: B018 - without a bundle nobody can be told from anybody
        known = self._by_fingerprint.get(certificate.fingerprint)
        if known is None:
            raise UnknownCertificate()
        try:
            identity = certificate.identity
        except BadIdentity:
            raise UnknownCertificate() from None
        if identity != known.identity:
            raise UnknownCertificate()
        return known

    def queue_of(self, client: KnownClient) -> str | None:
        """The name of the queue in which this client's messages wait; None means the default."""
        return self._domains[client.domain]

    def check_host(self, host: bytes | None, client: KnownClient) -> None:
        """A Host that names a configured domain must name the client's own."""
        if host is None:
            return
        name = host.decode("latin-1").rsplit(":", 1)[0].lower().rstrip(".")
        if name in self._domains and name != client.domain:
            raise IdentityMismatch("The Host names another domain than the certificate.")


async def bundle_loop(
    stop: asyncio.Event, log: Log, main_server: httpx.AsyncClient, senders: Senders
) -> None:
    """Asks for the bundle; the main server answers 304 as long as nothing has changed."""
    etag = ""
    while not stop.is_set():
        problem = None
        try:
            answer = await main_server.get("/internal/bundle", headers={"if-none-match": etag})
            if answer.status_code == 200:
                senders.learn(decode_bundle(answer.content))
                etag = answer.headers["etag"]
                log.info("bundle.learned", etag=etag)
            elif answer.status_code != 304:
                problem = f"the main server refused the bundle with {answer.status_code}"
        except (httpx.HTTPError, msgspec.MsgspecError) as error:
            problem = f"no bundle from the main server: {type(error).__name__}"
        if problem and problem != senders.problem:
            log.warning("bundle.missed", reason=problem)
        senders.problem = problem
        await pause(stop, REFRESH_SECONDS)
