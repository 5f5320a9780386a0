"""The CA in a main server: its intermediates, and what is done for them regularly.

Lists are signed anew every hour, by whichever process comes first; each process sees to the file
and to intermediates that were replaced. What was revoked after the backup that a ledger was
restored from is taken back from the file, at the start and whenever the ledger goes back.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from cryptography import x509
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.errors import ConfigurationError
from gatepost.logs import Log
from gatepost.loops import Loops, pause
from gatepost.trust.certificates import read_certificates
from main_server.ca.authorities import Authorities
from main_server.ca.expiry import ExpiryMetrics, look_for_expiring
from main_server.ca.ocsp import Responders
from main_server.ca.recovery import follow, recover
from main_server.ca.revocation import publish, renew_old_lists
from main_server.ca.revoked.repository import read_number, read_revocations
from main_server.settings import Authority as Settings
from main_server.store.database import Ledger, transact

KEEP_SECONDS = 1.0
EXPIRY_SECONDS = 60.0
PUBLISH_SECONDS = 0.5


class OnlineCa:
    def __init__(
        self, log: Log, settings: Settings, ledger: Ledger, clock: Clock, redis: Redis
    ) -> None:
        self._log = log
        self._clock = clock
        self._redis = redis
        self.settings = settings
        self.ledger = ledger
        self.authorities = Authorities(settings.folder, settings.public_url)
        self.responders = Responders()
        self._kids = [one.kid for one in self.authorities.all]
        self._written: int | None = None

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)

    def start(self, loops: Loops, stop: asyncio.Event) -> None:
        loops.start(self.keep_loop(stop))
        loops.start(self.expiry_loop(stop))

    async def keep_loop(self, stop: asyncio.Event) -> None:
        noted = None
        while not stop.is_set():
            problem = None
            try:
                await self.keep()
            except SQLAlchemyError as error:
                problem = f"the ledger does not answer: {type(error).__name__}"
            except ConfigurationError as error:
                problem = error.detail
            if problem != noted:
                (self._log.warning if problem else self._log.info)("ca.changed", problem=problem)
            noted = problem
            await pause(stop, KEEP_SECONDS)

    async def expiry_loop(self, stop: asyncio.Event) -> None:
        metrics = ExpiryMetrics()
        while not stop.is_set():
            signing = self.authorities.signing.certificate
            metrics.show_ca("intermediate", signing.not_valid_after_utc, self.now())
            with suppress(OSError, ValueError):  # whoever asks for the root is told
                metrics.show_ca("root", self.root.not_valid_after_utc, self.now())
            try:
                seen = await self.ledger.run(look_for_expiring, self.now())
            except SQLAlchemyError:
                pass  # the watch over the ledger says so
            else:
                metrics.show(seen.counts)
                for days, one in seen.news:
                    self._log.warning(
                        "certificate.expiring",
                        days=days,
                        serial=one.serial,
                        holder=one.identity.uri,
                        not_after=one.not_after.isoformat(),
                    )
            await pause(stop, EXPIRY_SECONDS)

    async def keep(self) -> None:
        self.authorities.refresh()
        kids = [one.kid for one in self.authorities.all]
        if kids != self._kids:
            self._log.info("ca.intermediates", kids=kids)
            self._kids = kids
        try:
            await self._take_back()
        finally:  # lists that are signed anew are wanted even where the file is damaged
            number = await self.ledger.run(renew_old_lists, self.authorities.all, self.now())
            if number is not None:
                self._log.info("crl.renewed", revocation_number=number)
        if await self.ledger.run(transact, read_number) != self._written:
            file = self.settings.crl_file
            done = await self.ledger.run(follow, self.authorities.all, file, self.now())
            self._warn(done.serials)
            self._written = done.number

    async def _take_back(self) -> None:
        """Take back what the ledger has forgotten, before anything is signed that has forgotten it,
        too."""
        number = await self.ledger.run(transact, read_number)
        if self._written is None or number < self._written:
            file = self.settings.crl_file
            self._warn(await self.ledger.run(recover, self.authorities.all, file, self.now()))

    def _warn(self, serials: list[str]) -> None:
        if serials:
            self._log.warning("revocations.recovered", serials=serials)

    async def publish(self) -> bool:
        """Publish what is revoked at once; return whether Redis was told.

        Where Redis or the ledger doesn't answer, `main_server.ca.watch` publishes it when they do.
        """
        try:
            revocations = await self.ledger.run(transact, read_revocations)
            async with asyncio.timeout(PUBLISH_SECONDS):
                await publish(self._redis, revocations)
        except (RedisError, TimeoutError, SQLAlchemyError) as error:
            self._log.warning("revocations.unpublished", error=type(error).__name__)
            return False
        return True

    @property
    def root(self) -> x509.Certificate:
        return read_certificates((self.settings.folder / "root.pem").read_bytes())[0]
