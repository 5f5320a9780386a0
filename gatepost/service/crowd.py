"""Bounds the connections that one port keeps in one process: in all, of an address, of a
certificate.

Until a certificate is known, a connection is its address's; and where none is asked for, it stays
so. An address may be a balancer's, or that of a whole office, so nobody who comes from it is
refused as long as another of its connections is at rest: at its handshake, or between two requests.
That one has to go, the longest at rest first. A handshake takes a moment, so a peer who means well
is hardly ever hit, and one who only holds connections always is.

A certificate is one client's: above its bound it is told so (`gatepost.service.http.MutualTls`).
"""

from ipaddress import IPv6Address
from typing import Protocol

from gatepost.addresses import address_in
from gatepost.service.turned_away import Bound, TurnedAway

OF_A_PROCESS = 8192
OF_AN_ADDRESS = 512
OF_A_CLIENT = 256
OF_A_SERVICE = 2048
"""Services of ours open many: a proxy of 64 processes opens a thousand to a main server."""


class Guest(Protocol):
    """A connection, from when it is taken until it is lost."""

    @property
    def at_rest(self) -> bool:
        """True if nobody waits for an answer on it."""

    def hang_up(self) -> None:
        """End the connection at once."""


class Crowd:
    def __init__(
        self,
        turned_away: TurnedAway,
        of_a_process: int = OF_A_PROCESS,
        of_an_address: int = OF_AN_ADDRESS,
    ) -> None:
        self._turned_away = turned_away
        self._of_a_process = of_a_process
        self._of_an_address = of_an_address
        self._owners: dict[Guest, str] = {}
        self._guests: dict[str, dict[Guest, None]] = {}

    def __len__(self) -> int:
        return len(self._owners)

    def enter(self, guest: Guest, address: str) -> bool:
        """Let a connection in; return whether there was room for it. Another one may have to go."""
        if len(self._owners) >= self._of_a_process:
            self._turned_away.note(Bound.PROCESS)
            return False
        owner = _origin(address)
        others = self._guests.get(owner, {})
        if len(others) >= self._of_an_address:
            self._turned_away.note(Bound.ADDRESS)
            resting = next((one for one in others if one.at_rest), None)
            if resting is None:
                return False
            self.leave(resting)
            resting.hang_up()
        self._put(guest, owner)
        return True

    def belongs_to(self, guest: Guest, owner: str, most: int) -> bool:
        """Count a connection as its certificate's from now on; return whether that has `most` at
        most."""
        self.leave(guest)
        self._put(guest, owner)
        if len(self._guests[owner]) <= most:
            return True
        self._turned_away.note(Bound.CERTIFICATE, owner)
        return False

    def rests(self, guest: Guest) -> None:
        """Note that a connection rests from now on, so it is the last of its owner's to go."""
        if owner := self._owners.get(guest):
            self._guests[owner][guest] = self._guests[owner].pop(guest)

    def leave(self, guest: Guest) -> None:
        owner = self._owners.pop(guest, None)
        if owner is not None:
            del self._guests[owner][guest]
            if not self._guests[owner]:
                del self._guests[owner]

    def _put(self, guest: Guest, owner: str) -> None:
        self._owners[guest] = owner
        self._guests.setdefault(owner, {})[guest] = None


def _origin(address: str) -> str:
    """Return whose an address is. An IPv6 one is its network's: whoever gets one gets a network,
    /64."""
    parsed = address_in(address)
    if isinstance(parsed, IPv6Address):
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return str(parsed or address)
