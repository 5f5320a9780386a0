"""Addresses of the network, as text says them. Pure."""

from ipaddress import IPv4Address, IPv6Address, ip_address


def address_in(text: str) -> IPv4Address | IPv6Address | None:
    """None if it is no address. One of IPv4 within IPv6 is the same as by itself."""
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed
