"""Tokens: for one name, for a time, for one certificate; and only who has one can use it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, NoReturn

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from sqlalchemy import Engine

from gatepost.errors import (
    BadSigningRequest,
    KeyUsedBefore,
    NameTaken,
    NotFound,
    RevokedCertificate,
    TokenRefused,
)
from gatepost.trust.identity import Identity, Role
from gatepost.wire.enrolment import Token, new_token, parse_token, token_hash
from gatepost.wire.people import UserRole
from gatepost.wire.renewal import sign_renewal
from main_server.audit.names import actor_of
from main_server.ca.authorities import Authorities
from main_server.ca.authority import Authority, utc_now
from main_server.ca.enrolment import Enrolment, enrol, make_token, withdraw
from main_server.ca.renewal import Renewal, renew
from main_server.ca.service import Certified
from main_server.people.users import links
from main_server.people.users import service as users
from main_server.people.users.repository import User
from main_server.people.users.service import Rights
from main_server.store.database import transact
from main_server.store.tables import certificates
from main_server.tenants.clients.service import Change, change
from tests.csrs import make_csr
from tests.integration.main_server.ca.ca_room import CaRoom
from tests.integration.main_server.new_people import HASH, People


def made(room: CaRoom, name: str = "partner") -> Token:
    said = room.done("cert", "token", f"{room.domain}:{name}", "--json").json
    return parse_token(said["token"])


def used(room: CaRoom, token: Token, csr: bytes, after: timedelta = timedelta()) -> Certified:
    asked = Enrolment(token.public_key, token.sign(csr), csr)
    return enrol(room.engine, Authorities(room.ca), asked, utc_now() + after)


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


def of(room: CaRoom, maker: str) -> Token:
    """One that an administrator has made."""
    (root,) = x509.load_pem_x509_certificates((room.ca / "root.pem").read_bytes())
    holder = Identity(room.domain, Role.CLIENT, "partner")
    return make_token(room.engine, holder, root, timedelta(hours=1), utc_now(), maker)


def withdrawals(room: CaRoom) -> list[dict[str, Any]]:
    """What the audit log says of them."""
    found = room.done("audit", "show", "--domain", room.domain, "--json").documents
    return [one for one in found if one["action"] == "token.withdrawn"]


def make_less(engine: Engine, user: User, now: datetime, actor: str) -> None:
    users.change_rights(engine, user, Rights(role=UserRole.USER), now, actor)


@pytest.mark.parametrize(
    "act", [users.disable, make_less, users.sign_out, users.reset_second_step, "a new password"]
)
def test_it_ends_with_the_sessions_of_who_has_made_it(room: CaRoom, act: Any) -> None:
    """Who was sent away, or was here in another's place, must not come back as a client."""
    people = People(room.engine, domain=room.domain)
    user, now = people.create(role=UserRole.ADMIN), utc_now()
    theirs, anothers = of(room, actor_of(user.domain, user.name)), of(room, "shell:root")
    if callable(act):
        act(room.engine, user, now, "tester")
    else:
        link = links.make_link(room.engine, user, now, "tester")
        links.set_password(room.engine, link, HASH, now)
    with pytest.raises(TokenRefused):
        used(room, theirs, make_csr())
    assert used(room, anothers, make_csr()).serial


def test_it_ends_with_the_certificate_of_the_administrator_who_has_made_it(room: CaRoom) -> None:
    name = f"{room.domain}:boss"
    made_by = room.issue("boss", "--role", "admin")["identity"]
    theirs = of(room, made_by)
    assert "1 token to enrol with" in room.done("cert", "revoke", name, "--dry-run").out
    said = room.done("cert", "revoke", name, "--yes", "--json").json
    assert said["tokens_withdrawn"] == 1
    with pytest.raises(TokenRefused):
        used(room, theirs, make_csr())
    with pytest.raises(RevokedCertificate):  # whose request had been let in before
        of(room, made_by)


def test_it_ends_with_the_name_of_an_administrator_who_has_no_certificate_left(
    room: CaRoom,
) -> None:
    """What was revoked before, or has expired and is forgotten, is none to go by."""
    name = f"{room.domain}:boss"
    theirs = of(room, room.issue("boss", "--role", "admin")["identity"])
    anothers = of(room, room.issue("other", "--role", "admin")["identity"])
    mine = certificates.update().where(certificates.c.domain == room.domain)
    transact(
        room.engine,
        lambda c: c.execute(mine.where(certificates.c.name == "boss").values(status="revoked")),
    )
    assert "1 token to enrol with" in room.done("cert", "revoke", name, "--dry-run").out
    assert room.gatepost("cert", "revoke", name, "--role", "worker", "--yes").code == 4
    said = room.done("cert", "revoke", name, "--yes", "--json").json
    assert (said["revoked"], said["tokens_withdrawn"]) == ([], 1)
    with pytest.raises(TokenRefused):
        used(room, theirs, make_csr())
    assert used(room, anothers, make_csr()).serial
    (entry,) = withdrawals(room)
    assert entry["subject"] == Identity(room.domain, Role.ADMIN, "boss").uri


def test_only_who_looks_after_its_domain_can_withdraw_it(room: CaRoom) -> None:
    token, csr = made(room), make_csr()
    digest = token_hash(token.public_key)
    with pytest.raises(NotFound):
        withdraw(room.engine, digest, "other.example.com", utc_now())
    withdraw(room.engine, token_hash(made(room, "other").public_key), room.domain, utc_now())
    assert used(room, token, csr)


def test_a_key_that_was_used_before_does_not_use_it_up(room: CaRoom) -> None:
    """The first answer was lost, and the partner was given another token."""
    csr = make_csr()
    used(room, made(room), csr)
    token = made(room)
    for _ in range(2):
        with pytest.raises(KeyUsedBefore):
            used(room, token, csr)
    assert used(room, token, make_csr())


def test_what_was_interrupted_does_not_use_it_up(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Exception):
        pass

    def stop(*_: Any) -> NoReturn:
        raise Interrupted

    token, csr = made(room), make_csr()
    for request in (csr, csr, make_csr()):
        with monkeypatch.context() as patched:
            patched.setattr(Authority, "sign", stop)
            with pytest.raises(Interrupted):
                used(room, token, request)
    first = used(room, token, csr)
    assert used(room, token, csr).serial == first.serial
    with pytest.raises(TokenRefused):
        used(room, token, make_csr())


def test_of_two_at_once_one_is_given_a_certificate(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first one signs, the second comes and goes."""
    token, came = made(room), []
    sign = Authority.sign

    def second_comes(*given: Any) -> x509.Certificate:
        monkeypatch.setattr(Authority, "sign", sign)
        came.append(used(room, token, make_csr()))
        return sign(*given)

    monkeypatch.setattr(Authority, "sign", second_comes)
    with pytest.raises(TokenRefused):
        used(room, token, make_csr())
    assert active(room) == [came[0].serial]


def test_of_many_at_once_one_is_given_a_certificate(room: CaRoom) -> None:
    token = made(room)

    def one(_: int) -> bool:
        try:
            used(room, token, make_csr())
        except TokenRefused:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(one, range(6))).count(True) == 1
    assert len(active(room)) == 1


def test_withdrawn_while_it_is_used_it_gives_nothing(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = made(room)
    sign = Authority.sign

    def meanwhile(*given: Any) -> x509.Certificate:
        withdraw(room.engine, token_hash(token.public_key), None, utc_now())
        return sign(*given)

    monkeypatch.setattr(Authority, "sign", meanwhile)
    with pytest.raises(TokenRefused):
        used(room, token, make_csr())
    assert active(room) == []


def test_a_client_that_is_disabled_enrols_and_renews_nothing(room: CaRoom) -> None:
    issued = room.issue("partner")
    asked, token = renewal_of(room, "partner"), made(room)
    holder = Identity(room.domain, Role.CLIENT, "partner")
    late, authorities = utc_now() + timedelta(days=70), Authorities(room.ca)
    change(room.engine, holder.client_id, Change(disabled=True), utc_now())
    with pytest.raises(NameTaken):
        used(room, token, make_csr())
    with pytest.raises(NameTaken):
        renew(room.engine, authorities, asked, holder, late)
    assert active(room) == [issued["serial"]]
    change(room.engine, holder.client_id, Change(disabled=False), utc_now())
    assert used(room, token, make_csr())
    assert renew(room.engine, authorities, asked, holder, late)


def test_what_is_given_again_comes_with_the_intermediate_that_signed_it(room: CaRoom) -> None:
    room.issue("holder")
    token, csr, asked = made(room), make_csr(), renewal_of(room, "holder")
    holder, late = Identity(room.domain, Role.CLIENT, "holder"), utc_now() + timedelta(days=70)
    used(room, token, csr)
    renew(room.engine, Authorities(room.ca), asked, holder, late)
    room.done("ca", "prepare")
    room.done("ca", "switch", "--yes")
    again = used(room, token, csr), renew(room.engine, Authorities(room.ca), asked, holder, late)
    for one in again:
        leaf, issuer = x509.load_pem_x509_certificates(one.chain_pem)
        leaf.verify_directly_issued_by(issuer)


def renewal_of(room: CaRoom, name: str) -> Renewal:
    leaf, *_ = x509.load_pem_x509_certificates((room.out / f"{name}.pem").read_bytes())
    key: Any = load_pem_private_key((room.out / f"{name}.key").read_bytes(), None)
    csr = make_csr()
    return Renewal(leaf.fingerprint(SHA256()).hex(), csr, sign_renewal(key, csr))


def active(room: CaRoom) -> list[str]:
    found = room.done("cert", "list", "--domain", room.domain, "--status", "active", "--json")
    return [one["serial"] for one in found.documents]


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
            enrol(room.engine, Authorities(room.ca), asked, utc_now())
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


@pytest.mark.parametrize("change", ["revoke", "hold"])
def test_who_is_revoked_has_no_tokens_left_and_nobody_else_is_touched(
    room: CaRoom, change: str
) -> None:
    room.issue("partner")
    mine, later, other = made(room), made(room), made(room, "other")
    said = room.done("cert", change, f"{room.domain}:partner", "--yes", "--json").json
    assert said["tokens_withdrawn"] == 2
    for token in (mine, later):
        with pytest.raises(TokenRefused):
            used(room, token, make_csr())
    assert used(room, other, make_csr())
    (entry,) = withdrawals(room)
    assert entry["subject"] == f"gatepost://{room.domain}/client/partner"
    assert used(room, made(room), make_csr()), "made after it, one is good"


def test_who_has_tokens_alone_can_be_revoked_too(room: CaRoom) -> None:
    token, who = made(room), f"{room.domain}:partner"
    dry = ["cert", "revoke", who, "--dry-run"]
    assert room.done(*dry).out == "1 token to enrol with\n"
    assert room.done(*dry, "--json").json == {"tokens_withdrawn": 1}
    assert room.gatepost("cert", "revoke", who).code == 2, "it asks first"
    said = room.done("cert", "revoke", who, "--yes", "--json").json
    assert (said["revoked"], said["tokens_withdrawn"]) == ([], 1)
    with pytest.raises(TokenRefused):
        used(room, token, make_csr())
    assert room.gatepost("cert", "revoke", who, "--yes").code == 4


def test_one_certificate_or_another_role_takes_no_token_along(room: CaRoom) -> None:
    token, issued = made(room), room.issue("partner")
    room.issue("partner", "--role", "admin", "--out", str(room.folder / "admin"))
    room.done("cert", "revoke", "--serial", issued["serial"], "--yes")
    room.done("cert", "revoke", f"{room.domain}:partner", "--role", "admin", "--yes")
    assert used(room, token, make_csr())
