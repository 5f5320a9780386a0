"""An authority that signs lists of revoked certificates, one after the other."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gatepost.trust.revocation import Reason, Revocations
from main_server.ca.authority import Authority, load_authority
from main_server.ca.crl import Entry, build_crl
from tests.factories import Pair, Pki


class Issuer:
    """`pins` is the CA file of those who trust it."""

    def __init__(self, folder: Path) -> None:
        self.pki = Pki(folder)
        self.authority: Authority = load_authority(folder)
        self.pins = folder / "pins.pem"
        names = ("root", "intermediate")
        self.pins.write_bytes(b"".join((folder / f"{n}.pem").read_bytes() for n in names))
        self._moment = datetime.now(UTC)

    def state(
        self,
        *revoked: Pair,
        number: int | None = None,
        at: datetime | None = None,
        numbers: Sequence[int] = (),
    ) -> Revocations:
        self._moment += timedelta(milliseconds=1)
        serials = [*(one.x509.serial_number for one in revoked), *numbers]
        entries = [Entry(one, Reason.UNSPECIFIED, self._moment) for one in serials]
        crl = build_crl(self.authority, entries, at or self._moment, None)
        return Revocations(number or crl.number, [crl.der])
