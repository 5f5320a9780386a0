"""Readers of bodies, of payloads and of answers: JSON, MessagePack, forms, and what Redis holds."""

import base64
import struct
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import msgspec

from gatepost.cli import submission
from gatepost.cli.doctor.looks.programs import judge_readiness
from gatepost.cli.failure import Failure
from gatepost.client import enrolling, renewing
from gatepost.client.calls import send_call
from gatepost.client.errors import UnexpectedAnswer
from gatepost.client.messages import Message
from gatepost.client.parsing import parse_identity, parse_receipt, parse_status
from gatepost.client.refusals import refusal
from gatepost.decoding import Undecodable
from gatepost.errors import (
    CannotOpen,
    GatepostError,
    IdentityMismatch,
    Invalid,
    KeysUnavailable,
    Malformed,
)
from gatepost.insight.figures import Spread, _read_spread
from gatepost.queue import Delivery, Entry, QueueDamaged, wire
from gatepost.service.otlp import rejected_spans
from gatepost.trust.revocation import Revocations, decode_revocations, encode_revocations
from gatepost.wire.bundle import decode_bundle
from gatepost.wire.content import Content, decode_content, encode_content
from gatepost.wire.contract import (
    DeliverAnswer,
    DeliverRequest,
    DeliverResult,
    DeliveryOffer,
    QueueNames,
    RegisterRequest,
    Result,
    SettleItem,
    Settlement,
    SettleRequest,
    decode_deliver_answer,
    decode_deliver_request,
    decode_queue_names,
    decode_register_answer,
    decode_register_request,
    decode_settle_request,
    encode_json,
)
from gatepost.wire.envelope import decode, encode, trace_of
from gatepost.wire.holders import CertificateOrder, TokenOrder
from gatepost.wire.people import SignIn, TokenKeys
from main_server.api import pki
from main_server.api.bodies import decode as decode_body
from main_server.audit.words import details_in_words
from main_server.health.overview.heard import Heard
from main_server.keys.service import Keyring
from main_server.messages.arrivals import arrive
from portal import forms
from portal import main_server as portal_calls
from proxy.admission import admit
from proxy.settings import Validation
from tests import factories
from tests.hostile.readers import Read, Reader, text_of
from worker.main_server import envelope_of

_PROBLEM = (
    b'{"type":"urn:gatepost:problem:invalid","title":"t","status":422,"detail":"d",'
    b'"retry_after":1,"errors":[{"pointer":"/a","detail":"b"}]}'
)
_MESSAGE = (
    b'{"sender_number":"+4915112345678","message_body":"hello","metadata":'
    b'{"client_id":"client_001","timestamp":"2025-10-20T12:34:56.789Z"}}'
)
_STATUS = (
    b'{"message_id":"01890000-0000-7000-8000-000000000000","status":"queued","durability":"full",'
    b'"created_at":"2025-10-20T12:34:56.789Z","queued_at":"2025-10-20T12:34:56.789Z",'
    b'"delivered_at":null,"attempt_count":3}'
)
_WHO = (
    b'{"client_id":"a:b","domain":"a","role":"client","name":"b","certificate":{"fingerprint":"f",'
    b'"serial":"1","not_before":"2025-10-20T12:34:56Z","not_after":"2026-10-20T12:34:56Z"},'
    b'"limits":{"rate_per_second":10,"burst":20},"formats":{"max_body_characters":1000}}'
)
_FORM = b"form=abc&name=M%C3%BCller&days=30&reason=a+b"
_FILES = (
    b'--x\r\nContent-Disposition: form-data; name="form"\r\n\r\nabc\r\n--x\r\nContent-Disposition:'
    b' form-data; name="request"; filename="a.csr"\r\nContent-Type: text/plain\r\n\r\nPEM\r\n--x--'
)


def list_readers(folder: Path) -> list[Reader]:
    ring = factories.keyring()
    return [*_messages(ring), *_calls(ring), *_bodies(), *_answers(), *_redis()]


def _messages(ring: Keyring) -> list[Reader]:
    one = factories.envelope(ring)
    good, content = encode(one), encode_content(Content("+4915112345678", "hello"))

    def open_it(sealed: bytes) -> object:
        return ring.open_envelope(msgspec.structs.replace(one, sealed=sealed))

    def offer(payload: bytes) -> None:
        """What a worker makes of a payload must be a call that a main server can read."""
        offered = _offered(one.message_id, envelope_of(_delivery(payload)))
        decode_deliver_request(encode_json(DeliverRequest([offered])))

    return [
        Reader("envelope", decode, good, (Undecodable,)),
        Reader("envelope's trace", trace_of, good),
        Reader("content", decode_content, content, (Undecodable,)),
        Reader("sealed content", open_it, one.sealed, (CannotOpen, KeysUnavailable)),
        Reader("arrival", lambda data: arrive(ring, msgspec.Raw(data)), good),
        Reader("worker's offer", offer, good),
        Reader("audit details", lambda data: details_in_words(text_of(data)), b'{"serials":["1"]}'),
    ]


def _offered(message_id: UUID, envelope: msgspec.Raw) -> DeliveryOffer:
    return DeliveryOffer(message_id=message_id, attempt=1, envelope=envelope)


def _delivery(payload: bytes) -> Delivery:
    return Delivery(bytes(16), payload, b"t" * 8, 1, 0, 5, 0, None, 0, 0)


def _calls(ring: Keyring) -> list[Reader]:
    raw, message_id = msgspec.Raw(encode(factories.envelope(ring))), UUID(int=7)
    result = DeliverResult(message_id=message_id, result=Result.DELIVERED)
    item = SettleItem(
        message_id=message_id,
        attempt=1,
        outcome=Settlement.FAILED,
        reason="refused",
        started_at=1,
        ended_at=2,
        envelope=raw,
    )
    known = factories.known_client()
    pairs: dict[str, tuple[Read, object]] = {
        "register": (decode_register_request, RegisterRequest([raw])),
        "register's answer": (decode_register_answer, {"results": []}),
        "deliver": (decode_deliver_request, DeliverRequest([_offered(message_id, raw)])),
        "deliver's answer": (decode_deliver_answer, DeliverAnswer([result])),
        "settle": (decode_settle_request, SettleRequest([item])),
        "names of queues": (decode_queue_names, QueueNames(["a"], ["b"])),
        "bundle": (decode_bundle, factories.bundle(known, ring=ring)),
        "spread": (_read_spread, Spread()),
    }
    found = [
        Reader(n, read, encode_json(good), (Undecodable,)) for n, (read, good) in pairs.items()
    ]
    lists = encode_revocations(Revocations(3, [b"\x30\x03abc"]))
    return [
        *found,
        Reader("revocations", decode_revocations, lists, (Undecodable,)),
        Reader("vitals", Heard().hear, encode_json(factories.vitals_of())),
        Reader("collector's answer", rejected_spans, b"\n\x02\x08\x03"),
    ]


def _bodies() -> list[Reader]:
    rules, sender = Validation(), factories.identity()
    order = b'{"client_id":"a","hosts":["b"],"days":3.5,"pkcs12_password":"12345678"}'
    token = b'{"client_id":"a","minutes":3.5}'
    sign_in = b'{"domain":"a","name":"b","password":"c","address":"127.0.0.1"}'
    some = base64.b64encode(b"abc").decode()
    asked = encode_json({"public_key": some, "signature": some, "csr": some})
    wrong, told = (Malformed, Invalid), b"multipart/form-data; boundary=x"
    return [
        Reader("post", lambda d: admit(d, sender, rules), _MESSAGE, (*wrong, IdentityMismatch)),
        Reader("body of an order", partial(decode_body, kind=CertificateOrder), order, wrong),
        Reader("body of a token", partial(decode_body, kind=TokenOrder), token, wrong),
        Reader("body of a sign-in", partial(decode_body, kind=SignIn), sign_in, wrong),
        Reader("enrolment", pki._read_enrolment, asked, (Malformed,)),
        Reader("form", partial(forms.fields_of, "application/x-www-form-urlencoded"), _FORM, wrong),
        Reader("files", partial(forms.fields_of, told.decode()), _FILES, wrong),
        Reader(
            "form's type",
            lambda d: forms.fields_of(text_of(d), _FILES),
            b"multipart/form-data; boundary=x",
            wrong,
        ),
        Reader("command's input", submission.parse, _MESSAGE, (Failure,)),
    ]


def _answers() -> list[Reader]:
    call = send_call(Message("+1", "a"), "k")
    now = datetime.now(UTC)

    def answer(status: int, data: bytes) -> httpx.Response:
        return httpx.Response(
            status, content=data, headers={"content-type": "application/problem+json"}
        )

    def headed(data: bytes) -> Any:
        headers = [(b"retry-after", data.replace(b"\r", b"").replace(b"\n", b""))]
        return refusal(call, httpx.Response(503, headers=headers), now)

    def decoded(data: bytes) -> object:
        return portal_calls._decode(answer(200, data), TokenKeys)

    pair = b'{"cert":"a","ca":"b","gateway":"https://a:8001"}'
    keys = b'{"keys":[{"kid":"a","key":"00"}],"now_ms":17}'
    odd, ready = (UnexpectedAnswer,), b'{"checks":{"a":{"ok":true,"detail":"b"}}}'
    return [
        Reader("receipt", lambda d: parse_receipt(call, answer(202, d)), _STATUS, odd),
        Reader("status", lambda d: parse_status(answer(200, d)), _STATUS, odd),
        Reader("whoami", lambda d: parse_identity(answer(200, d)), _WHO, odd),
        Reader("problem", lambda d: refusal(call, answer(422, d), now), _PROBLEM),
        Reader("Retry-After", headed, b"Wed, 21 Oct 2026 07:28:00 GMT"),
        Reader("enrolled", lambda d: enrolling._read(answer(201, d)), pair, odd),
        Reader("renewed", lambda d: renewing._read(answer(201, d)), pair, odd),
        Reader(
            "portal's answer",
            lambda d: portal_calls._decode(answer(200, d), TokenKeys),
            keys,
            (GatepostError,),
        ),
        Reader("portal's refusal", lambda d: portal_calls._error(answer(422, d)), _PROBLEM),
        Reader("readiness", lambda d: judge_readiness("proxy", d, "start"), ready),
    ]


def _redis() -> list[Reader]:
    damaged = (QueueDamaged,)
    packed = b"".join(wire.pack_entry(Entry(bytes(16), b"payload"))[1:])
    record = struct.pack(">BBIIQQ8s", 0, 5, 1, 0, 17, 0, bytes(8))

    def peeked(data: bytes) -> object:
        place, _, rest = data.partition(b" ")
        return wire.read_peeked([bytes(16)], [place, rest[:34], rest[34:]])

    def delivered(id_: bytes, data: bytes) -> object:
        return wire.read_deliveries([1, 0, id_, data, data], 9, 0)

    return [
        Reader("payload in Redis", wire.payload_of, packed),
        Reader(
            "delivery",
            lambda d: delivered(bytes(16), d),
            record,
            damaged,
        ),
        Reader(
            "id in Redis",
            lambda d: delivered(d, record),
            bytes(16),
            damaged,
        ),
        Reader("exposed", lambda d: wire.read_exposed([bytes(16), d, d]), record, damaged),
        Reader("peeked", peeked, b"leased " + record + b"17000000", damaged),
    ]
