"""A gateway to talk to, and both clients behind one face."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gatepost.client import AsyncClient, Client
from tests.unit.client.gateway import Authority, Gateway, Pair


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def server_pair(authority: Authority) -> Pair:
    return authority.issue("server", server=True)


@pytest.fixture(scope="session")
def client_pair(authority: Authority) -> Pair:
    return authority.issue("client")


@pytest.fixture
def gateway(authority: Authority, server_pair: Pair) -> Iterator[Gateway]:
    with Gateway(authority, server_pair).running() as gateway:
        yield gateway


Use = Callable[[Any], Any]


class Either:
    """Runs the same use of a client with the blocking one or with the asynchronous one."""

    def __init__(self, asynchronous: bool, gateway: Gateway, pair: Pair) -> None:
        self._asynchronous = asynchronous
        self._arguments: dict[str, Any] = {
            "base_url": gateway.url,
            "ca": gateway.authority.ca,
            "cert": pair.cert,
            "key": pair.key,
        }

    def __call__(self, use: Use, **arguments: Any) -> Any:
        """`use` gets the client and returns what it called: a value, or what is to be awaited."""
        given = {**self._arguments, **arguments}
        if self._asynchronous:
            return asyncio.run(self._awaited(use, given))
        with Client(**given) as client:
            result = use(client)
            return list(result) if isinstance(result, Iterator) else result

    async def _awaited(self, use: Use, arguments: dict[str, Any]) -> Any:
        async with AsyncClient(**arguments) as client:
            result = use(client)
            if isinstance(result, Awaitable):
                return await result
            return [item async for item in result]


@pytest.fixture(params=[False, True], ids=["blocking", "asynchronous"])
def either(request: pytest.FixtureRequest, gateway: Gateway, client_pair: Pair) -> Either:
    return Either(request.param, gateway, client_pair)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Authority:
    """Another CA, that nobody here knows."""
    return Authority(tmp_path / "elsewhere", "another CA")
