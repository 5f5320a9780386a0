"""A ledger that was restored from a backup: what was revoked since is not good again."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from sqlalchemy import Connection, insert, select, update

from gatepost.errors import ConfigurationError
from gatepost.trust.revocation import Revocations, encode_revocations
from main_server.ca import recovery
from main_server.ca.authority import new_key, utc_now
from main_server.ca.crl import REBUILT_EVERY
from main_server.ca.crl_file import write_crl_file
from main_server.ca.ocsp import answer
from main_server.ca.online import OnlineCa
from main_server.ca.recovery import recover
from main_server.ca.revoked.repository import read_crl, read_revocations
from main_server.store.database import transact
from main_server.store.tables import certificates, crls, revocation_state
from tests.integration.main_server.ca.ca_room import CaRoom


@dataclass
class Backup:
    """The rows of one room, as they were."""

    room: CaRoom
    number: int
    lists: list[dict[str, Any]]
    rows: list[dict[str, Any]]

    def restore(self) -> None:
        def work(connection: Connection) -> None:
            connection.execute(update(revocation_state).values(number=self.number))
            connection.execute(crls.delete())
            connection.execute(insert(crls).values(self.lists))
            connection.execute(certificates.delete().where(certificates.c.issuer == kid(self.room)))
            connection.execute(insert(certificates).values(self.rows))

        transact(self.room.engine, work)


def kid(room: CaRoom) -> str:
    found: str = room.done("ca", "status", "--json").json["authorities"][0]["kid"]
    return found


def back_up(room: CaRoom) -> Backup:
    room.done("crl", "publish")

    def read(connection: Connection, query: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in connection.execute(query).mappings()]

    mine = select(certificates).where(certificates.c.issuer == kid(room))
    state, lists, rows = (transact(room.engine, lambda c, q=query: read(c, q))  # type: ignore[misc]
                          for query in (select(revocation_state), select(crls), mine))  # fmt: skip
    return Backup(room, state[0]["number"], lists, rows)


def revoke(room: CaRoom, serial: str) -> None:
    room.done("cert", "revoke", "--serial", serial, "--yes", "--reason", "superseded")


def shown(room: CaRoom, serial: str) -> tuple[str, str | None]:
    found = room.done("cert", "show", "--serial", serial, "--json").json
    return found["status"], found["reason"]


def listed(room: CaRoom) -> list[str]:
    (one,) = room.done("crl", "show", "--json").documents
    return [entry["serial"] for entry in one["entries"]]


def in_file(room: CaRoom) -> list[str]:
    found = x509.load_pem_x509_crl(room.crl_file.read_bytes())
    return [f"{one.serial_number:032x}" for one in found]


def said_by_ocsp(room: CaRoom, online: OnlineCa, name: str) -> tuple[str, Any]:
    leaf = x509.load_pem_x509_certificate((room.out / f"{name}.pem").read_bytes())
    issuer = online.authorities.signing.certificate
    builder = ocsp.OCSPRequestBuilder().add_certificate(leaf, issuer, SHA256())
    question = builder.build().public_bytes(Encoding.DER)
    said = answer(room.engine, online.authorities, online.responders, question, utc_now())
    found = ocsp.load_der_ocsp_response(said)
    return found.certificate_status.name, found.revocation_reason


def took_back(room: CaRoom, online: OnlineCa) -> list[str]:
    return recover(room.engine, online.authorities.all, room.crl_file, utc_now())


def test_what_it_has_forgotten_is_taken_back(room: CaRoom, online: OnlineCa) -> None:
    one, held, other = (room.issue(name)["serial"] for name in ("one", "held", "other"))
    backup = back_up(room)
    revoke(room, one)
    room.done("cert", "hold", "--serial", held, "--yes")
    (published,) = room.done("crl", "show", "--json").documents
    assert took_back(room, online) == []
    backup.restore()
    assert sorted(took_back(room, online)) == sorted([one, held])
    assert shown(room, one) == ("revoked", "superseded")
    assert shown(room, held) == ("held", "certificateHold")
    assert shown(room, other) == ("active", None)
    (after,) = room.done("crl", "show", "--json").documents
    assert after["number"] > published["number"]
    assert took_back(room, online) == []


def test_a_hold_that_was_released_since_is_not_taken_back(room: CaRoom, online: OnlineCa) -> None:
    serial = room.issue()["serial"]
    room.done("cert", "hold", "--serial", serial, "--yes")
    before = room.crl_file.read_bytes()
    room.done("cert", "release", "--serial", serial)
    room.crl_file.write_bytes(before)  # nobody could write it meanwhile
    assert took_back(room, online) == []
    assert shown(room, serial)[0] == "active"


def test_a_main_server_that_runs_sees_that_the_ledger_went_back(
    room: CaRoom, online: OnlineCa
) -> None:
    serial = room.issue()["serial"]
    backup = back_up(room)
    asyncio.run(online.keep())
    revoke(room, serial)
    asyncio.run(online.keep())
    backup.restore()
    asyncio.run(online.keep())
    assert shown(room, serial)[0] == "revoked"
    assert serial in in_file(room)


def test_it_does_so_though_another_list_was_signed_first(room: CaRoom, online: OnlineCa) -> None:
    """Its number is above that of the file: what both hold tells, not the numbers."""
    serial, other = (room.issue(name)["serial"] for name in ("a", "b"))
    backup = back_up(room)
    revoke(room, serial)
    asyncio.run(online.keep())
    backup.restore()
    revoke(room, other)
    asyncio.run(online.keep())
    assert shown(room, serial)[0] == shown(room, other)[0] == "revoked"
    assert {serial, other} <= set(in_file(room))


def test_a_command_that_writes_the_file_takes_back_first(room: CaRoom) -> None:
    serial = room.issue()["serial"]
    backup = back_up(room)
    revoke(room, serial)
    backup.restore()
    said = room.done("crl", "publish")
    assert "revoked again" in said.err
    assert shown(room, serial)[0] == "revoked"
    assert serial in in_file(room)


def test_an_older_state_does_not_stay_in_the_file(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody revokes, and writes it, between our look into the ledger and our writing."""
    serial, late = room.issue()["serial"], [True]

    def write(file: Path, revocations: Revocations) -> bool:
        if late and late.pop():
            revoke(room, serial)
        return write_crl_file(file, revocations)

    monkeypatch.setattr(recovery, "write_crl_file", write)
    room.done("crl", "publish")
    assert serial in in_file(room)


def test_what_was_issued_after_the_backup_stays_on_the_lists(
    room: CaRoom, online: OnlineCa
) -> None:
    room.issue("other")
    backup = back_up(room)
    serial = room.issue()["serial"]
    revoke(room, serial)
    backup.restore()
    assert took_back(room, online) == [serial]
    for _ in range(2):
        room.done("crl", "publish")
        assert serial in listed(room)
        assert serial in in_file(room)
    assert room.gatepost("cert", "show", "--serial", serial).code == 4
    told = said_by_ocsp(room, online, "client_001")
    assert told == ("REVOKED", x509.ReasonFlags.superseded), "as the list does"
    later = utc_now() + timedelta(days=91)
    asyncio.run(online.keep())
    assert recover(room.engine, online.authorities.all, room.crl_file, later) == []


@pytest.mark.parametrize("kept", ["by a proxy", "from the PKI port"])
def test_a_list_helps_from_wherever_it_was_kept(room: CaRoom, online: OnlineCa, kept: str) -> None:
    serial = room.issue()["serial"]
    backup = back_up(room)
    revoke(room, serial)
    newest = transact(room.engine, read_revocations)
    of_ours = transact(room.engine, lambda c: read_crl(c, kid(room)))
    assert of_ours
    backup.restore()
    by_a_proxy = kept == "by a proxy"
    room.crl_file.write_bytes(encode_revocations(newest) if by_a_proxy else of_ours.der)
    asyncio.run(online.keep())
    assert shown(room, serial) == ("revoked", "superseded")
    assert room.crl_file.read_bytes().startswith(b"-----BEGIN X509 CRL")


@pytest.mark.parametrize("damage", [
    lambda pem: b"nonsense" + pem[:40],
    lambda pem: pem[:-40],
    lambda pem: pem + b"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n",
])  # fmt: skip
def test_a_damaged_file_is_not_overwritten(room: CaRoom, online: OnlineCa, damage: Any) -> None:
    serial = room.issue()["serial"]
    backup = back_up(room)
    revoke(room, serial)
    whole = room.crl_file.read_bytes()
    damaged = damage(whole)
    room.crl_file.write_bytes(damaged)
    backup.restore()
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="damaged"):
            asyncio.run(online.keep())
    said = room.gatepost("crl", "publish")
    assert said.code == 2
    assert "bring an undamaged copy back" in said.err
    assert room.crl_file.read_bytes() == damaged
    room.crl_file.write_bytes(whole)
    asyncio.run(online.keep())
    assert shown(room, serial)[0] == "revoked"


def test_lists_are_signed_anew_though_the_file_is_damaged(
    room: CaRoom, online: OnlineCa, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.done("crl", "publish")
    (before,) = room.done("crl", "show", "--json").documents
    room.crl_file.write_bytes(b"nonsense")
    later = utc_now() + REBUILT_EVERY + timedelta(minutes=1)
    monkeypatch.setattr(online, "now", lambda: later)
    with pytest.raises(ConfigurationError):
        asyncio.run(online.keep())
    (after,) = room.done("crl", "show", "--json").documents
    assert after["number"] > before["number"]


def test_a_list_of_somebody_else_is_not_believed(room: CaRoom, online: OnlineCa) -> None:
    issued = room.issue()
    authority = online.authorities.signing
    named = x509.AuthorityKeyIdentifier(bytes.fromhex(authority.kid), None, None)
    entry = x509.RevokedCertificateBuilder(int(issued["serial"], 16), utc_now()).build()
    builder = x509.CertificateRevocationListBuilder(
        last_update=utc_now(),
        next_update=utc_now() + timedelta(days=1),
        revoked_certificates=[entry],
    ).add_extension(x509.CRLNumber(1 << 60), critical=False)
    named_so = builder.issuer_name(authority.certificate.subject)
    forged = named_so.add_extension(named, critical=False).sign(new_key(), SHA256())
    room.crl_file.parent.mkdir(exist_ok=True)
    room.crl_file.write_bytes(forged.public_bytes(Encoding.PEM))
    assert took_back(room, online) == []
    ours = x509.load_der_x509_crl(authority.sign_crl(builder))
    room.crl_file.write_bytes(ours.public_bytes(Encoding.PEM))
    assert took_back(room, online) == [issued["serial"]], "the same, by who may"
