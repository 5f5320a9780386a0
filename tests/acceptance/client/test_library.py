"""gatepost.client, blocking and asynchronous, on a real stack."""

import asyncio
import ssl
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from gatepost.client import AsyncClient, CertificateError, Client, Refused
from infra.dev.stack import Stack
from tests.unit.client.gateway import Authority, Pair

NUMBER, BODY = "+15550100278", "Words for the library."


@pytest.fixture
def connection(stack: Stack) -> dict[str, Any]:
    status = stack.status()
    return {"base_url": status["proxy"], "ca": status["ca"], **status["client"]}


def test_send_and_wait(connection: dict[str, Any]) -> None:
    with Client(**connection) as gateway:
        receipt = gateway.send(NUMBER, BODY, client_id="client_001")
        final = gateway.wait(receipt.message_id, timeout=30)
    assert (final.message_id, final.status) == (receipt.message_id, "delivered")
    assert final.delivered_at is not None
    assert final.delivered_at >= receipt.queued_at


async def test_many_at_once(connection: dict[str, Any]) -> None:
    async with AsyncClient(**connection) as gateway:
        receipts = await asyncio.gather(*(gateway.send(NUMBER, BODY) for _ in range(50)))
        finals = await asyncio.gather(*(gateway.wait(r.message_id, 30) for r in receipts))
    assert len({receipt.message_id for receipt in receipts}) == 50
    assert {final.status for final in finals} == {"delivered"}


async def test_a_foreign_certificate_is_named_as_the_reason(
    connection: dict[str, Any], foreign: tuple[Authority, Pair]
) -> None:
    other = {**connection, "cert": foreign[1].cert, "key": foreign[1].key}
    with Client(**other) as gateway, pytest.raises(CertificateError, match="does not know the CA"):
        gateway.send(NUMBER, BODY)
    async with AsyncClient(**other) as asynchronous:
        with pytest.raises(CertificateError, match="does not know the CA"):
            await asynchronous.send(NUMBER, BODY)


def test_without_a_certificate_there_is_no_answer(connection: dict[str, Any]) -> None:
    context = ssl.create_default_context(cafile=str(Path(connection["ca"])))
    with (
        httpx.Client(verify=context, trust_env=False) as nobody,
        pytest.raises(httpx.TransportError),
    ):
        nobody.get(f"{connection['base_url']}/api/v1/whoami")


async def test_a_repeat_under_the_same_key_is_the_same_message(connection: dict[str, Any]) -> None:
    """Also when all come at once: the ones that meet the first under way come again."""
    key = str(uuid4())
    async with AsyncClient(**connection) as gateway:
        receipts = await asyncio.gather(
            *(gateway.send(NUMBER, BODY, idempotency_key=key) for _ in range(10))
        )
        with pytest.raises(Refused, match="Use a new one"):
            await gateway.send(NUMBER, "Other words.", idempotency_key=key)
    assert len({receipt.message_id for receipt in receipts}) == 1


def test_a_send_outlasts_the_loss_of_the_proxy(stack: Stack, connection: dict[str, Any]) -> None:
    """Killed in the midst of sends: each is repeated under its key until it is accepted."""
    with Client(**connection, retry_for=60) as gateway:
        sent = [gateway.send(NUMBER, BODY).message_id for _ in range(20)]
        stack.kill("proxy")
        sent += [gateway.send(NUMBER, BODY).message_id for _ in range(20)]
        finals = {gateway.wait(message_id, timeout=60).status for message_id in sent}
    assert len(set(sent)) == 40
    assert finals == {"delivered"}
