"""The address at which a browser is, by which tries to sign in are counted: the other end of its
connection, or what a proxy of ours says of it."""

from collections.abc import Sequence

from fastapi import Request

from gatepost.addresses import FORWARDED, Network, behind


def browser_of(request: Request, proxies: Sequence[Network]) -> str:
    address = request.client.host if request.client else ""
    return behind(address, request.headers.getlist(FORWARDED), proxies)
