"""The content that is sealed: the number and the body of a message. Only the main server ever
decodes it."""

import msgspec

from gatepost.decoding import json_decoder


class Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sender_number: str
    message_body: str

    def __repr__(self) -> str:
        return "Content(…)"


encode_content = msgspec.json.Encoder().encode
_decode = json_decoder(Content)


def decode_content(data: bytes) -> Content:
    return _decode(data)
