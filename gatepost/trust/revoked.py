"""The view that a process has of revoked certificates, and how sure it is of it (I8).

A list counts if an intermediate of our pinned CA file has signed it, and if it is no older than the
one that we have from that issuer. Who brings it decides nothing: Redis, a main server, a file.

A confirmation of a view holds for the time at which it was asked for. So a view that may be gone by
for LIMIT_SECONDS can't miss what was revoked longer ago than that: one second after the revoking
call was answered nothing is accepted that it withdrew. A view that nobody has confirmed for so
long, or that holds a list past its nextUpdate, refuses everybody rather than guess.

One thread learns and confirms, another one checks requests: the one that checks takes what is
there, which is replaced whole; the one that changes it holds a lock.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import Path

from cryptography import x509

from gatepost.clock import Clock
from gatepost.errors import RevokedCertificate, Unavailable, UnknownCertificate
from gatepost.loops import at_home
from gatepost.trust.certificates import reading
from gatepost.trust.identity import Certificate
from gatepost.trust.revocation import Revocations
from gatepost.trust.signed_list import SignedList, read_list
from gatepost.trust.tls import read_trusted

LIMIT_SECONDS = 1.0

Cut = Callable[[Callable[[Certificate], bool]], object]
"""A function that ends what those certificates have open to which the given function says yes."""


def must_end(certificate: Certificate, is_out: Callable[[Certificate], bool]) -> bool:
    """Return whether what this certificate has open is to be cut. One that can't be judged is out,
    for whatever reason: it must not keep the others from being judged."""
    try:
        return is_out(certificate)
    except Exception:
        return True


class NotBelieved(Exception):
    """Lists that prove nothing: nobody that we trust has signed them, or ours are newer."""


class Revoked:
    """The view of one process. Its `version` changes with what it holds."""

    def __init__(self, trusted: Iterable[x509.Certificate], clock: Clock) -> None:
        self._issuers = _by_key(trusted)
        self._clock = clock
        self._lists: dict[str, SignedList] = {}
        self._newest: list[str] = []
        """The issuers whose lists the newest state has. Those of others still count, but may grow
        old."""
        self._confirmed = self._good_until = -inf
        self._cuts: list[Cut] = []
        self._changing = threading.Lock()
        self.serials: frozenset[str] = frozenset()
        self.version = 0

    @property
    def pins(self) -> object:
        """The issuers that it trusts; another object when these are changed."""
        return self._issuers

    def when_revoked(self, cut: Cut) -> None:
        """Have `cut` called from now on, on the loop that runs here, whenever a new list has been
        learned of."""
        self._cuts.append(at_home(cut))

    def trust(self, trusted: Iterable[x509.Certificate]) -> None:
        """Pin other issuers from now on. Neither certificates nor lists count of an issuer that is
        no longer pinned; one whose list isn't here yet has it with the next that somebody
        brings."""
        with self._changing:
            self._issuers = _by_key(trusted)
            self._lists = {one: of for one, of in self._lists.items() if one in self._issuers}
            self._newest = [one for one in self._newest if one in self._issuers]
            self._gather()

    def learn(self, state: Revocations) -> None:
        """Read a state and take it at once: for when nobody waits."""
        self.take(self.read(state))

    def read(self, state: Revocations) -> dict[str, SignedList]:
        """Return each issuer's list, verified, without what nobody that we trust has signed. It may
        run in any thread, as long lists take long."""
        issuers, ours = self._issuers, {one.der: (who, one) for who, one in self._lists.items()}
        pairs = (ours.get(der) or read_list(der, issuers) for der in state.crls)
        return dict(pair for pair in pairs if pair)

    def take(self, lists: Mapping[str, SignedList]) -> int:
        """Take these lists, and return the version that has them. Raise NotBelieved, and keep what
        is there, unless all of them can be believed."""
        with self._changing:
            changed = self._take(lists)
            version = self.version
        if changed:
            for cut in self._cuts:
                cut(self.is_revoked)
        return version

    def _take(self, lists: Mapping[str, SignedList]) -> bool:
        found = {issuer: one for issuer, one in lists.items() if issuer in self._issuers}
        if not found:
            raise NotBelieved("there is no list that a CA certificate in our ca_file has signed")
        for issuer, one in found.items():
            mine = self._lists.get(issuer)
            if mine and mine.der != one.der and mine.number >= one.number:
                raise NotBelieved("a list is older than the one that we have")
        if all(self._lists.get(issuer) == one for issuer, one in found.items()):
            return False
        self._lists = self._lists | found  # a thread that reads meanwhile has the former ones
        self._newest = list(found)
        self._gather()
        return True

    def _gather(self) -> None:
        self.serials = frozenset[str]().union(*(one.serials for one in self._lists.values()))
        self.version += 1

    def confirm(self, asked: float) -> None:
        """Note that a source that was asked at this (monotonic) time knows nothing newer."""
        with self._changing:
            self._confirmed = max(self._confirmed, asked)
            self._good_until = self._confirmed + min(LIMIT_SECONDS, self.seconds_left)

    def is_revoked(self, certificate: Certificate) -> bool:
        """Return whether a certificate is revoked: by its serial, on its issuer's own list, as on
        another's the same serial is somebody else's. One of a CA that isn't ours is on each of our
        lists, by a number that is its own."""
        of = self._lists.get(certificate.issuer)
        if of is not None and certificate.serial in of.serials:
            return True
        return certificate.listed_number in self.serials

    def refusal(self, certificate: Certificate) -> str | None:
        """Return why nobody may go on with this certificate, however old this view may be; None if
        there is no reason."""
        if self.is_revoked(certificate):
            return "it was revoked"
        if certificate.issuer not in self._issuers:
            return "its issuer is not in our ca_file"
        return None

    def check(self, certificate: Certificate, *, is_ours: bool = True) -> None:
        """Check that we are sure that this certificate is not revoked, or raise. For one that isn't
        ours, the caller must know its CA."""
        if self.is_revoked(certificate):
            raise RevokedCertificate()
        if time.monotonic() > self._good_until:
            raise Unavailable("Which certificates are revoked can't be told just now. Try again.")
        if is_ours and certificate.issuer not in self._lists:
            raise UnknownCertificate("Nobody here knows which certificates its issuer has revoked.")

    @property
    def problem(self) -> str | None:
        """The reason for which this view refuses everybody; None if it doesn't."""
        now = time.monotonic()
        if now <= self._good_until:
            return None
        if not self._lists:
            return "no list of revoked certificates yet that our ca_file's CA has signed"
        if self.seconds_left <= 0:
            return f"the list of revoked certificates is {-self.seconds_left:.0f} s past its time"
        return f"nobody has confirmed for {LIMIT_SECONDS:.0f} s which certificates are revoked"

    @property
    def age_seconds(self) -> float:
        """The age of the oldest list of the newest state."""
        made = min((self._lists[one].made_ms for one in self._newest), default=0)
        return (self._clock.now_ms() - made) / 1000

    @property
    def seconds_left(self) -> float:
        return (self._until_ms - self._clock.now_ms()) / 1000

    @property
    def _until_ms(self) -> int:
        return min((self._lists[one].until_ms for one in self._newest), default=0)


def open_view(ca_file: Path, clock: Clock) -> Revoked:
    """Return a view that believes the issuers that are pinned in this file."""
    return Revoked(read_trusted(ca_file), clock)


def _by_key(trusted: Iterable[x509.Certificate]) -> dict[str, x509.Certificate]:
    return {key_id(issuer): issuer for issuer in trusted}


def key_id(certificate: x509.Certificate) -> str:
    """Return the key id by which what a certificate's holder has signed names him."""
    with reading("the CA certificate"):
        return x509.SubjectKeyIdentifier.from_public_key(certificate.public_key()).digest.hex()
