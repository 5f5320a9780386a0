"""How long one waits after wrong tries. Pure.

By account and by address: an address has more free tries, for many people may share one. Nobody is
locked out for long: whoever keeps guessing at an account delays its holder for a minute at most.
"""

from datetime import datetime, timedelta
from enum import Enum
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network

LONGEST = timedelta(seconds=60)
FORGOTTEN = timedelta(minutes=15)
"""After so long without a wrong try nothing is held against anybody."""


class Kind(Enum):
    """With its number of tries that are free."""

    ACCOUNT = 5
    ADDRESS = 20


def key_of(kind: Kind, *parts: str) -> bytes:
    """What tries are counted by. Of a name that nobody has, too: it must look the same."""
    return sha256("\0".join((kind.name, *parts)).encode(errors="replace")).digest()


def whereabouts(address: str) -> str:
    """What an address is counted by: of IPv6 its network, for everybody has 2 to the 64 in one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        ours = parsed.ipv4_mapped
        return str(ours or ip_network((parsed.packed, 64), strict=False))
    return str(parsed)


def pause_after(kind: Kind, failures: int) -> timedelta:
    """Between the last try and the next one: doubled with each."""
    beyond = failures - kind.value
    return timedelta(0) if beyond < 0 else min(timedelta(seconds=2 ** min(beyond, 30)), LONGEST)


def wait_before(kind: Kind, failures: int, last_at: datetime, now: datetime) -> timedelta:
    """How long it still is until a try is taken; nothing if it is taken now."""
    if now - last_at >= FORGOTTEN:
        return timedelta(0)
    return max(last_at + pause_after(kind, failures) - now, timedelta(0))
