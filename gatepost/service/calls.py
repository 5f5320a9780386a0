"""Calls to the main server: mutual TLS, its role required in the handshake, connections kept.

Nothing is retried here: what to do when a call fails is for the caller to decide.
"""

import ssl
from contextlib import AsyncExitStack

import httpx

from gatepost.config.settings import MainServer
from gatepost.loops import at_home
from gatepost.service.replaced import Replaced
from gatepost.service.revocation_sources import MainServerSource, Open, Source
from gatepost.service.transport import KeptConnections
from gatepost.trust.identity import Role
from gatepost.trust.revoked import Revoked
from gatepost.trust.tls import client_context


def main_server_asked(settings: MainServer, revoked: Revoked, replaced: Replaced) -> Open:
    """Return an opener of a source that asks the main server what is revoked, over a connection
    that no other call can hold up."""

    async def opened(stack: AsyncExitStack) -> Source:
        client = main_server_client(settings, 1, revoked, replaced, unsure=True)
        return MainServerSource(await stack.enter_async_context(client))

    return opened


def main_server_client(
    settings: MainServer,
    connections: int,
    revoked: Revoked,
    replaced: Replaced,
    *,
    unsure: bool = False,
) -> httpx.AsyncClient:
    """Return a client that refuses and cuts off a revoked main server, and calls none while we
    can't tell which are revoked.

    With `unsure` only what is known to be revoked is refused: for asking what is.
    """

    def context() -> ssl.SSLContext:
        return client_context(settings.files(), Role.MAIN, revoked.refusal)

    transport = KeptConnections(context(), connections, lambda: None if unsure else revoked.problem)
    revoked.when_revoked(transport.cut)
    renew = at_home(transport.renew)
    replaced.watch(settings.files().all, lambda: renew(context()))
    return httpx.AsyncClient(
        base_url=settings.url,
        transport=transport,
        timeout=settings.timeout,
        trust_env=False,
    )
