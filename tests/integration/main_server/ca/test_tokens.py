"""Tokens: for one name, for a time, for one certificate; and only who has one can use it."""

from datetime import timedelta

import pytest

from gatepost.enrolment import Token, new_token, parse_token, token_hash
from gatepost.errors import BadSigningRequest, TokenRefused
from main_server.ca.authorities import Authorities
from main_server.ca.authority import utc_now
from main_server.ca.enrolment import Enrolment, enrol, withdraw
from main_server.ca.service import Certified
from tests.csrs import make_csr
from tests.integration.main_server.ca.ca_room import CaRoom


def made(room: CaRoom, name: str = "partner") -> Token:
    said = room.done("cert", "token", f"{room.domain}:{name}", "--json").json
    return parse_token(said["token"])


def used(room: CaRoom, token: Token, csr: bytes, after: timedelta = timedelta()) -> Certified:
    asked = Enrolment(token.public_key, token.sign(csr), csr)
    return enrol(room.engine, Authorities(room.ca).signing, asked, utc_now() + after)


def test_it_gives_the_name_that_it_was_made_for(room: CaRoom) -> None:
    certified = used(room, made(room), make_csr())
    shown = room.done("cert", "show", "--serial", certified.serial, "--json").json
    assert shown["identity"] == f"gatepost://{room.domain}/client/partner"


def test_it_is_good_once_but_a_lost_answer_is_given_again(room: CaRoom) -> None:
    token, csr = made(room), make_csr()
    first = used(room, token, csr)
    assert used(room, token, csr).serial == first.serial
    with pytest.raises(TokenRefused):
        used(room, token, make_csr())


def test_it_is_good_for_an_hour_and_not_when_withdrawn(room: CaRoom) -> None:
    with pytest.raises(TokenRefused):
        used(room, made(room), make_csr(), timedelta(hours=1, seconds=2))
    token = made(room)
    withdraw(room.engine, token_hash(token.public_key), None, utc_now())
    with pytest.raises(TokenRefused):
        used(room, token, make_csr())


def test_it_signs_the_request_and_no_other(room: CaRoom) -> None:
    token, csr = made(room), make_csr()
    other = new_token(b"root")
    wrong = (
        Enrolment(other.public_key, other.sign(csr), csr),
        Enrolment(token.public_key, other.sign(csr), csr),
        Enrolment(token.public_key, token.sign(make_csr()), csr),
        Enrolment(b"", b"", csr),
    )
    for asked in wrong:
        with pytest.raises(TokenRefused):
            enrol(room.engine, Authorities(room.ca).signing, asked, utc_now())
    with pytest.raises(BadSigningRequest):
        used(room, token, make_csr(name="somebody-else"))
    assert used(room, token, csr), "what was refused has not used it up"


def test_it_is_read_as_it_is_written(room: CaRoom) -> None:
    token = made(room)
    for text in (str(token), str(token).lower(), str(token).replace("-", " ") + "\n"):
        assert parse_token(text) == token
    assert str(token) not in repr(token)
    assert not token.fits(b"another root")
    for wrong in ("", "AAAA", str(token)[:-4], "not a token!"):
        with pytest.raises(ValueError, match="token"):
            parse_token(wrong)
