"""The envelope's encoding: what went in comes out, what isn't one is refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.envelope import decode, encode, trace_of
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


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(encode(factories.envelope(RING))[:-1] + b',"message_body":"x"}')


def test_of_a_trace_nothing_but_the_ids_is_read() -> None:
    one = factories.envelope(RING)
    assert trace_of(encode(one)) == {
        "request_id": one.request_id,
        "traceparent": one.traceparent,
    }


@given(st.binary(max_size=100))
def test_a_trace_of_anything_is_never_an_error(noise: bytes) -> None:
    assert set(trace_of(noise)) <= {"request_id", "traceparent"}
