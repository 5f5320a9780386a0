"""What one process of the main server works with, and how it knows its callers."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

from gatepost.clock import Clock
from gatepost.errors import UnknownCertificate
from gatepost.identity import Certificate, Identity
from gatepost.service.http import CERTIFICATE
from main_server.ca.callers import Callers
from main_server.database import Ledger
from main_server.keys.service import Keyring


@dataclass(frozen=True, slots=True)
class Context:
    ledger: Ledger
    keyring: Keyring
    clock: Clock
    callers: Callers


def identify(context: Context) -> Callable[[Request], Identity]:
    """The caller's identity: what its certificate says, if the ledger knows that certificate."""

    def of(request: Request) -> Identity:
        certificate: Certificate = request.scope[CERTIFICATE]
        identity = certificate.identity
        if context.callers.find(certificate.fingerprint) != identity:
            raise UnknownCertificate()
        return identity

    return of
