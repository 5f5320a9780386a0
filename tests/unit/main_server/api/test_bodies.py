"""Bodies that administrators send: what can't be read is malformed, and never a fault of ours."""

import pytest

from gatepost.errors import Malformed
from gatepost.wire.holders import TokenOrder
from main_server.api.bodies import decode


@pytest.mark.parametrize(
    "body",
    [
        b'{"client_id": "a", "client_id": "b", "minutes": 3}',
        b'{"client_id": "a", "minutes": 3, "\\u006dinutes": 4}',
        b'{"client_id": "\xff", "minutes": 3}',
        b'{"client_id": ' + b"[" * 5_000,
        b'{"client_id": ' * 5_000,
        b"\xff\xfe",
        b"",
    ],
)
def test_what_can_not_be_read_or_not_in_one_way_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        decode(body, TokenOrder)
