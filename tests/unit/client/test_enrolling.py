"""The PKI port is open and plain: what comes from it counts by the token alone."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.cli.failure import EXIT_OF_KIND
from gatepost.client.enrolling import enrol
from gatepost.client.errors import (
    CertificateError,
    RateLimited,
    Refused,
    RetryableError,
    Unavailable,
    UnexpectedAnswer,
)
from gatepost.client.keys import KEY_USED, make_key, make_request
from gatepost.wire.enrolment import Token, new_token
from main_server.ca.parts import to_pem
from tests.unit.client.issuing import Issuing, smuggled

Answers = Callable[..., None]


@pytest.fixture
def ours(tmp_path: Path) -> Issuing:
    return Issuing(tmp_path / "ours")


@pytest.fixture
def rogue(tmp_path: Path) -> Issuing:
    return Issuing(tmp_path / "rogue")


@pytest.fixture
def token(ours: Issuing) -> Token:
    return new_token(ours.root.public_bytes(Encoding.DER))


@pytest.fixture
def key() -> bytes:
    return make_key()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    def answer(document: Any, status: int = 201, more: Mapping[str, str] | None = None) -> None:
        kind = {"Content-Type": "application/problem+json"} if status > 400 else {}
        said = httpx.Response(status, text=json.dumps(document), headers={**kind, **(more or {})})
        monkeypatch.setattr(httpx.Client, "post", lambda *_, **__: said)

    return answer


def given(issuing: Issuing, key: bytes, ca: bytes | None = None) -> dict[str, Any]:
    whole = {**issuing.answer(make_request(key)), "gateway": "https://gateway.example.com:8443"}
    return whole if ca is None else {**whole, "ca": ca.decode()}


def refused(token: Token, key: bytes) -> str:
    with pytest.raises(CertificateError) as caught:
        enrol("http://pki.example.com:8002", token, key)
    return str(caught.value)


def test_what_hangs_on_the_tokens_root_is_taken(
    ours: Issuing, token: Token, key: bytes, answers: Answers
) -> None:
    answers(given(ours, key))
    enrolled = enrol("http://pki.example.com:8002", token, key)
    assert enrolled.ca == ours.pins
    assert enrolled.chain.count(b"BEGIN") == 2
    assert enrolled.gateway == "https://gateway.example.com:8443"


def test_a_forged_port_is_refused(
    ours: Issuing, rogue: Issuing, token: Token, key: bytes, answers: Answers
) -> None:
    answers(given(rogue, key))
    assert "root is another" in refused(token, key)
    answers(given(rogue, key, ours.pins))
    assert "nobody whom our root knows" in refused(token, key)
    answers(given(rogue, key, to_pem(ours.root) + to_pem(rogue.authority.certificate)))
    assert "does not hang together" in refused(token, key)
    answers(given(rogue, key, ours.pins + rogue.pins))
    assert "does not hang together" in refused(token, key)


def test_what_others_would_read_in_the_text_is_not_kept(
    ours: Issuing, rogue: Issuing, token: Token, key: bytes, answers: Answers
) -> None:
    extra = smuggled(to_pem(rogue.root))
    answers(given(ours, key, ours.pins + extra))
    assert enrol("http://pki.example.com:8002", token, key).ca == ours.pins


def test_a_certificate_for_another_key_is_refused(
    ours: Issuing, token: Token, key: bytes, answers: Answers
) -> None:
    answers(given(ours, make_key()))
    assert "another key" in refused(token, key)


def test_nonsense_and_refusals_are_told(token: Token, key: bytes, answers: Answers) -> None:
    nonsense: list[Any] = [{}, [], {"cert": "x", "ca": "y", "gateway": None}]
    for wrong in nonsense:
        answers(wrong)
        with pytest.raises(UnexpectedAnswer):
            enrol("http://pki.example.com:8002", token, key)
    answers({"type": KEY_USED, "detail": "Make a new key."}, 422)
    with pytest.raises(Refused, match="Make a new key") as caught:
        enrol("http://pki.example.com:8002", token, key)
    assert caught.value.type == KEY_USED


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimited), (503, Unavailable)])
def test_who_is_told_to_come_again_can(
    token: Token, key: bytes, answers: Answers, status: int, kind: type[RetryableError]
) -> None:
    answers(
        {"type": "urn:gatepost:problem:x", "detail": "Try again."}, status, {"Retry-After": "7"}
    )
    with pytest.raises(kind, match="Try again") as caught:
        enrol("http://pki.example.com:8002", token, key)
    assert caught.value.retry_after == 7
    assert EXIT_OF_KIND[caught.value.kind] == 5
    answers({}, 502)
    with pytest.raises(Unavailable, match="status 502"):
        enrol("http://pki.example.com:8002", token, key)
