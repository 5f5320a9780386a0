"""Calls to the main server: mutual TLS, its role required in the handshake, connections kept.

Nothing is retried here: what to do when a call fails is for the caller to decide.
"""

import httpx

from gatepost.identity import Role
from gatepost.settings import MainServer
from gatepost.tls import client_context


def main_server_client(settings: MainServer, connections: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=settings.url,
        verify=client_context(settings.files(), Role.MAIN),
        timeout=settings.timeout,
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        trust_env=False,
    )
