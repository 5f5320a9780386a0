"""Renew the main server's own certificate where its CA is.

A main server calls nobody, so it can't ask over mutual TLS as the others do. It asks for the same,
and proves the same.
"""

from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.client.errors import Problem, Refused
from gatepost.client.files import Files
from gatepost.client.renewing import sign
from gatepost.client.replacing import is_due, replace
from gatepost.errors import GatepostError, KeyUsedBefore
from gatepost.problem import describe
from gatepost.trust.identity import Certificate
from main_server.ca.founding import read_pins
from main_server.ca.renewal import Renewal, renew
from main_server.commands.ca_opening import opened


def problem_of(error: GatepostError) -> Problem:
    said = describe(error).document
    return Problem(said["type"], said["title"], said["status"], said["detail"])


def renew_own(config: Path, files: Files, *, only_if_due: bool) -> bool:
    if only_if_due and not is_due(files):
        return False
    with opened(config) as ca:

        def ask(csr: bytes) -> dict[str, str]:
            leaf = files.leaf()
            asked = Renewal(leaf.fingerprint(SHA256()).hex(), csr, sign(files, csr))
            holder = Certificate(leaf.public_bytes(Encoding.DER)).identity
            try:
                made = renew(ca.engine, ca.authorities, asked, holder, datetime.now(UTC))
            except KeyUsedBefore as error:  # as it would hear it from elsewhere: it makes another
                raise Refused(error.detail, problem=problem_of(error)) from None
            pins = read_pins(ca.settings.ca.folder)
            return {"cert": made.chain_pem.decode(), "ca": pins.decode()}

        def settle(_new: Files) -> None:
            """Do nothing. Nobody has to know the certificate: whoever calls a main server asks for
            its role alone."""

        return replace(files, ask, settle, only_if_due=only_if_due)
