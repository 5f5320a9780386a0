"""Where a browser is, by which tries to sign in are counted: the other end of its connection.

What a header says of that is believed of those proxies alone that the settings name: anybody else
could be somewhere else with each try.
"""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

from fastapi import Request

from gatepost.addresses import address_in

FORWARDED = "x-forwarded-for"
Network = IPv4Network | IPv6Network


def browser_of(request: Request, proxies: Sequence[Network]) -> str:
    """The last on the way from the browser to us that is none of our proxies."""
    address = request.client.host if request.client else ""
    way = ",".join(request.headers.getlist(FORWARDED)).split(",")
    while way and _is_within(address, proxies):
        before = way.pop().strip()
        if address_in(before) is None:
            break
        address = before
    return address


def _is_within(address: str, proxies: Sequence[Network]) -> bool:
    parsed = address_in(address)
    return parsed is not None and any(parsed in one for one in proxies)
