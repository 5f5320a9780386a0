"""Reads network addresses from text, and finds the address of a caller who comes by way of a proxy
of ours. Pure.

What a header says of the caller's address is believed only of those proxies that the settings name:
anybody else could claim another address with each try.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

FORWARDED = "x-forwarded-for"
Network = IPv4Network | IPv6Network


def address_in(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a text says; None if it is none. IPv4 mapped into IPv6 comes back as
    IPv4."""
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def behind(address: str, forwarded: Sequence[str], proxies: Sequence[Network]) -> str:
    """Return the last address on the way to us that is none of our proxies; `forwarded` are the
    headers."""
    way = ",".join(forwarded).split(",")
    while way and _is_within(address, proxies):
        before = way.pop().strip()
        if address_in(before) is None:
            break
        address = before
    return address


def proxies_faults(proxies: Sequence[Network]) -> list[str]:
    if any(one.prefixlen == 0 for one in proxies):
        return ["trusted_proxies: with /0 everybody could say where they are: name the proxies"]
    return []


def _is_within(address: str, proxies: Sequence[Network]) -> bool:
    parsed = address_in(address)
    return parsed is not None and any(parsed in one for one in proxies)
