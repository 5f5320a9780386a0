"""The time that one waits after wrong tries. Pure.

Whoever guesses takes the tries of where they are, never those of everybody: an account is counted
apart for each network, and for each browser that has signed in to it before. Over all networks
together it has a large budget, which is used up by many of them alone and doesn't count for such a
browser. So nobody is locked out by a guesser elsewhere, and nobody anywhere waits for more than a
minute.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from hashlib import sha256
from ipaddress import IPv6Address, ip_network

from gatepost.addresses import address_in

LONGEST = timedelta(seconds=60)
FORGOTTEN = timedelta(minutes=15)
"""The time without a wrong try after which nothing is held against anybody."""
EASED = timedelta(seconds=30)
"""The time after which one try is forgotten, again and again, of an account as a whole: faster than
one network may try, so that none keeps the budget used up by itself."""


class Kind(Enum):
    """A kind of count of tries, with its number of tries that are free."""

    HERE = 5
    """An account, from one network or one known browser."""
    NETWORK = 20
    SITE = 40
    """A /48 of IPv6: whoever has one has 65,536 networks."""
    ACCOUNT = 100
    """An account, over all networks."""


@dataclass(frozen=True, slots=True)
class Tried:
    failures: int
    last_at: datetime


def keys_for(domain: str, name: str, address: str, known: str | None) -> dict[Kind, bytes]:
    """Return the keys that a try is counted by. There are some for a name that nobody has, too: it
    must look the same.

    `known` is what the account's holder alone has: a browser, or a session.
    """
    if known is not None:
        return {Kind.HERE: key_of(Kind.HERE, domain, name, "known", known)}
    network, site = whereabouts(address), site_of(address)
    keys = {
        Kind.HERE: key_of(Kind.HERE, domain, name, network),
        Kind.NETWORK: key_of(Kind.NETWORK, network),
        Kind.ACCOUNT: key_of(Kind.ACCOUNT, domain, name),
    }
    return keys if site is None else keys | {Kind.SITE: key_of(Kind.SITE, site)}


def key_of(kind: Kind, *parts: str) -> bytes:
    return sha256("\0".join((kind.name, *parts)).encode(errors="replace")).digest()


def mark_of(domain: str, name: str) -> bytes:
    """Return the key by which we remember that an account was noted as one that is guessed at."""
    return key_of(Kind.ACCOUNT, domain, name, "noted")


def shown(domain: str, name: str, address: str) -> dict[str, str]:
    """Return what account and network are called where they mustn't be named: equal ones look
    equal."""
    account = key_of(Kind.ACCOUNT, domain, name)
    network = key_of(Kind.NETWORK, whereabouts(address))
    return {"account": account.hex()[:16], "network": network.hex()[:16]}


def whereabouts(address: str) -> str:
    """Return what an address is counted by: for IPv6 its network, since everybody has 2 to the 64
    addresses in one."""
    parsed = address_in(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((parsed.packed, 64), strict=False))
    return address if parsed is None else str(parsed)


def site_of(address: str) -> str | None:
    parsed = address_in(address)
    if not isinstance(parsed, IPv6Address):
        return None
    return str(ip_network((parsed.packed, 48), strict=False))


def pause_after(kind: Kind, failures: int) -> timedelta:
    """Return the pause between the last try and the next one: it is doubled with each."""
    beyond = failures - kind.value
    return timedelta(0) if beyond < 0 else min(timedelta(seconds=2 ** min(beyond, 30)), LONGEST)


def wait_before(kind: Kind, tried: Tried, now: datetime) -> timedelta:
    """Return how long it still is until a try is taken; nothing if it is taken now."""
    if now - tried.last_at >= FORGOTTEN:
        return timedelta(0)
    pause = pause_after(kind, tried.failures)
    if kind is Kind.ACCOUNT:
        pause = max(tried.failures - kind.value + 1, 0) * EASED
    if not pause:  # of two at once the one that was counted first may have come later
        return timedelta(0)
    left = tried.last_at + pause - now  # a clock that was set back must not make it long
    return min(max(left, timedelta(0)), LONGEST)


def with_another(kind: Kind, tried: Tried, now: datetime) -> int:
    """Return how many tries there are with one that is taken now."""
    if now - tried.last_at >= FORGOTTEN:
        return 1
    eased = (now - tried.last_at) // EASED if kind is Kind.ACCOUNT else 0
    return max(tried.failures - max(eased, 0), 0) + 1
