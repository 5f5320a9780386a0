"""Calls to the main server: mutual TLS, its role required in the handshake, connections kept.

Nothing is retried here: what to do when a call fails is for the caller to decide.
"""

import httpx

from gatepost.identity import Role
from gatepost.service.transport import KeptConnections
from gatepost.settings import MainServer
from gatepost.tls import client_context


def main_server_client(settings: MainServer, connections: int) -> httpx.AsyncClient:
    context = client_context(settings.files(), Role.MAIN)
    return httpx.AsyncClient(
        base_url=settings.url,
        transport=KeptConnections(context, connections),
        timeout=settings.timeout,
        trust_env=False,
    )
