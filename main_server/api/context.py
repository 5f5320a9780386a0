"""The resources that one process of the main server works with, and how it knows its callers."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

from gatepost.clock import Clock
from gatepost.errors import GatepostError, UnknownCertificate
from gatepost.queue import Queues
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from gatepost.service.tracing import Tracer
from gatepost.trust.identity import Certificate, Identity
from gatepost.trust.revoked import Revoked
from main_server.ca.callers import Callers
from main_server.ca.online import OnlineCa
from main_server.ca.revoked.source import LedgerSource
from main_server.health.overview.collecting import Collector
from main_server.keys.service import Keyring
from main_server.people.users.passwords import Passwords
from main_server.store.database import Ledger
from main_server.store.replica.shown import Shown


@dataclass(frozen=True, slots=True)
class Context:
    ledger: Ledger
    shown: Shown
    """The source of what people see, and of nothing that decides."""
    keyring: Keyring
    clock: Clock
    callers: Callers
    ca: OnlineCa
    revoked: Revoked
    revocations: LedgerSource
    passwords: Passwords
    queues: Queues
    overview: Collector
    second_step_demanded: bool
    """True if those who administer can't do without a second step."""
    tracer: Tracer | None = None


def identify(context: Context) -> Callable[[Request], Identity]:
    """Return a function that gives the caller's identity: what its certificate says, if the ledger
    knows that certificate."""

    def of(request: Request) -> Identity:
        certificate: Certificate = request.scope[CERTIFICATE]
        try:
            identity = certificate.caller
            context.revoked.check(certificate)
            if context.callers.find(certificate.fingerprint) != identity:
                raise UnknownCertificate("The ledger knows this certificate under another name.")
        except GatepostError as error:
            context_of(request.scope).fields["reason"] = error.detail
            raise
        return identity

    return of
