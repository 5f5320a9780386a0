"""What our own send is read as carefully: who has a proxy's certificate doesn't hold the ledger's
port."""

import gc
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gatepost.errors import GatepostError
from gatepost.wire.contract import (
    decode_deliver_request,
    decode_register_request,
    decode_settle_request,
)
from main_server.api.internal.messages import MAX_BYTES, read_items
from tests.hostile.bodies import repeated
from tests.hostile.stalls import STALL_SECONDS, inherent_stall

OFFER = b'{"message_id":"01a1ee53-ca31-7116-bf56-e42fba72bdee","attempt":1},'
SHAPES = {
    "of nothing": (b'{"envelopes":[', b"0,", b"0]}"),
    "of empty objects": (b'{"deliveries":[', b"{},", b"{}]}"),
    "of empty arrays": (b'{"settlements":[', b"[],", b"{}]}"),
    "of good ones": (b'{"deliveries":[', OFFER, b"{}]}"),
    "of no name that is known": (b'{"a":[', b'{"b":1},', b"0]}"),
    "of one string": (b'{"envelopes":["', b"\\u0416", b'"]}'),
    "of white space": (b"", b" ", b"{}"),
    "of no UTF-8": (b'{"envelopes":["', "ж".encode(), b'\xff"]}'),
    "nested": (b"", b"[", b""),
    "nested where it is known": (b'{"envelopes":', b"[", b""),
}


@pytest.fixture(autouse=True)
def as_in_a_service() -> Iterator[None]:
    gc.freeze()
    yield
    gc.unfreeze()


def reader(decode: Callable[[bytes], Any]) -> Any:
    """An application that reads a body and answers nothing."""

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        status = 200
        try:
            await read_items(receive, decode)
        except (GatepostError, RecursionError):
            status = 422
        await send({"type": "http.response.start", "status": status})

    return app


@pytest.mark.parametrize(
    "decode", [decode_register_request, decode_deliver_request, decode_settle_request]
)
async def test_no_body_of_items_holds_the_loop(decode: Callable[[bytes], Any]) -> None:
    late = {}
    for name, parts in SHAPES.items():
        found = await inherent_stall(
            reader(decode), {}, repeated(*parts)(random.Random(1), MAX_BYTES)
        )
        if found.seconds > STALL_SECONDS:
            late[name] = found
    assert late == {}
