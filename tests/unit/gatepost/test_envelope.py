"""The envelope's encoding: what went in comes out, what isn't one is refused."""

from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.decoding import Undecodable
from gatepost.wire.envelope import decode, encode, trace_of
from tests import factories

RING = factories.keyring()


def test_an_envelope_comes_out_as_it_went_in() -> None:
    for stamp in (None, 0, -1, 253_402_300_799_999):
        one = factories.envelope(RING, client_timestamp=stamp)
        assert decode(encode(one)) == one


def test_it_is_one_json_object_that_can_be_put_into_a_call_unparsed() -> None:
    encoded = encode(factories.envelope(RING))
    assert msgspec.json.decode(b'{"e":%b}' % encoded)["e"]["domain"] == factories.DOMAIN


@given(st.binary(max_size=100))
def test_what_is_not_an_envelope_is_refused(noise: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode(noise)


@pytest.mark.parametrize(
    "given",
    [
        {"client_id": ""},
        {"client_id": "x" * 194},
        {"client_id": "\u0441lient"},
        {"client_id": "a\nb"},
        {"domain": "x" * 129},
        {"domain": "m\u00fcnchen.de"},
        {"queue": "x" * 161},
        {"cert_fingerprint": "zz" * 32},
        {"cert_fingerprint": "ab" * 31},
        {"cert_fingerprint": "AB" * 32},
        {"queued_at": 10**18},
        {"queued_at": -(10**18)},
        {"expires_at": 253_402_300_800_000},
        {"client_timestamp": 253_402_300_800_000},
        {"client_timestamp": -62_135_596_800_000},
        {"key_mac": "AAAA"},
        {"payload_mac": "AAAA"},
        {"message_id": str(UUID(int=1))},
        {"message_id": str(UUID(int=2**128 - 1))},
        {"message_id": "ffffffff-ffff-7fff-bfff-ffffffffffff"},
    ],
)
def test_one_that_no_row_can_be_made_of_is_refused(given: dict[str, Any]) -> None:
    """Or the main server would try it again and again, with all that is in its batch."""
    tree = msgspec.json.decode(encode(factories.envelope(RING)))
    with pytest.raises(msgspec.ValidationError):
        decode(msgspec.json.encode(tree | given))


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(encode(factories.envelope(RING))[:-1] + b',"message_body":"x"}')


def test_of_a_trace_nothing_but_the_ids_is_read() -> None:
    one = factories.envelope(RING)
    assert trace_of(encode(one)) == {
        "request_id": one.request_id,
        "traceparent": one.traceparent,
        "domain": one.domain,
    }


@given(st.binary(max_size=100))
def test_a_trace_of_anything_is_never_an_error(noise: bytes) -> None:
    assert set(trace_of(noise)) <= {"request_id", "traceparent", "domain"}


def test_what_is_not_utf8_is_unreadable_and_no_error_of_another_kind() -> None:
    broken = encode(factories.envelope(RING)).replace(b"request-1", b"request-\xff")
    with pytest.raises(Undecodable):
        decode(broken)
    assert trace_of(broken) == {}
