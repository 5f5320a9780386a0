"""The intermediate is replaced while all runs: prepared, switched to, and the old one retired."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from gatepost.errors import ConfigurationError
from gatepost.trust.revocation import Reason
from main_server.ca import founding, revocation
from main_server.ca.authorities import Authorities
from main_server.ca.crl import REBUILT_EVERY
from main_server.ca.parts import to_pem
from main_server.ca.revoked.repository import Selection
from tests.integration.main_server.ca.ca_room import CaRoom
from tests.judges import openssl


def pins(room: CaRoom) -> Path:
    return room.file("pins.pem", room.done("ca", "pins").out.encode())


def is_good(room: CaRoom, name: str, trusted: Path) -> bool:
    """By the intermediates that are pinned, and their lists: the root is not enough."""
    leaf = room.out / f"{name}.pem"
    options = ("-partial_chain", "-crl_check", "-CRLfile", room.crl_file)
    only = room.file("only.pem", _intermediates(trusted))
    return openssl("verify", *options, "-CAfile", only, leaf).returncode == 0


def _intermediates(trusted: Path) -> bytes:
    found = x509.load_pem_x509_certificates(trusted.read_bytes())
    return b"".join(to_pem(one) for one in found if one.issuer != one.subject)


def test_the_next_one_is_trusted_before_it_signs(room: CaRoom) -> None:
    room.issue("old")
    room.done("crl", "publish")
    assert is_good(room, "old", pins(room))
    assert room.gatepost("ca", "switch", "--yes").code == 2, "nothing is prepared"
    room.done("ca", "prepare")
    both = pins(room)
    assert len(x509.load_pem_x509_certificates(both.read_bytes())) == 3
    room.issue("meanwhile")
    assert is_good(room, "old", both)
    assert is_good(room, "meanwhile", both), "the old one signs until the switch"


def test_after_the_switch_both_are_good(room: CaRoom) -> None:
    room.issue("old")
    running = Authorities(room.ca)
    before = running.signing.kid
    room.done("ca", "prepare")
    both = pins(room)
    assert room.gatepost("ca", "switch").code == 2, "it asks first"
    room.done("ca", "switch", "--yes")
    assert running.signing.kid != before, "a running main server signs with the new one"
    room.issue("new")
    assert is_good(room, "new", both)
    assert is_good(room, "old", both), "the old certificates are good until they are replaced"
    states = {one["state"]: one for one in room.done("ca", "status", "--json").json["authorities"]}
    assert set(states) == {"signs", "retiring"}
    assert (states["retiring"]["kid"], states["retiring"]["active"]) == (before, 1)
    assert room.gatepost("ca", "prepare").code == 2, "one after the other"


def test_what_a_retired_one_has_signed_is_revoked_for_everybody(room: CaRoom) -> None:
    room.issue("old")
    room.done("ca", "prepare")
    both = pins(room)
    room.done("ca", "switch", "--yes")
    room.issue("new")
    assert room.done("ca", "retire", "--dry-run", "--json").json["active"] == 1
    assert is_good(room, "old", both)
    room.done("ca", "retire", "--yes")
    assert not is_good(room, "old", both), "revoked, for who still trusts the old one"
    assert is_good(room, "new", both), "who still trusts the old one has a list to go by"
    last = pins(room)
    assert len(x509.load_pem_x509_certificates(last.read_bytes())) == 2
    assert is_good(room, "new", last)
    assert not is_good(room, "old", last)
    assert not (room.ca / "retiring.key").exists()
    assert room.gatepost("ca", "retire", "--yes").code == 4
    shown = room.done("cert", "show", "--json", f"{room.domain}:old").json
    assert (shown["status"], shown["reason"]) == ("revoked", "cACompromise")
    assert room.done("audit", "verify").code == 0


def test_the_last_list_lives_as_long_as_the_intermediate(room: CaRoom) -> None:
    room.issue("old")
    old = Authorities(room.ca).signing
    for command in (("prepare",), ("switch", "--yes"), ("retire", "--yes")):
        room.done("ca", *command)
    found = {one["issuer"]: one for one in room.done("crl", "show", "--json").documents}
    until = old.certificate.not_valid_after_utc
    assert found[old.kid]["next_update"].startswith(f"{until:%Y-%m-%dT%H:%M:%S}")
    assert len(found[old.kid]["entries"]) == 1


def test_who_runs_knows_the_new_one_at_once(room: CaRoom) -> None:
    """A list that it doesn't know of would lack what it revokes."""
    running = Authorities(room.ca)
    assert len(running.all) == 1
    room.done("ca", "prepare")
    room.done("ca", "switch", "--yes")
    issued = room.issue("new")
    where = Selection(serial=issued["serial"])
    now = datetime.now(UTC)
    revocation.revoke(room.engine, running.all, where, Reason.SUPERSEDED, now)
    found = {one["issuer"]: one for one in room.done("crl", "show", "--json").documents}
    assert [one["serial"] for one in found[running.signing.kid]["entries"]] == [issued["serial"]]


def test_while_the_files_cannot_be_read_the_former_ones_count(room: CaRoom) -> None:
    running = Authorities(room.ca)
    before = running.signing.kid
    whole = (room.ca / "intermediate.pem").read_bytes()
    (room.ca / "intermediate.pem").write_bytes(b"nonsense")
    assert running.signing.kid == before
    with pytest.raises(ConfigurationError):
        running.refresh()
    (room.ca / "intermediate.pem").write_bytes(whole)
    running.refresh()


def test_nobody_signs_over_the_last_list(room: CaRoom) -> None:
    """Neither a main server that hasn't seen yet that it was retired, nor the hourly look."""
    room.issue("old")
    for command in (("prepare",), ("switch", "--yes")):
        room.done("ca", *command)
    before = Authorities(room.ca).all
    room.done("ca", "retire", "--yes")
    issued = room.issue("new")
    now = datetime.now(UTC)
    where = Selection(serial=issued["serial"])
    revocation.revoke(room.engine, before, where, Reason.SUPERSEDED, now)
    old = before[1]
    found = {one["issuer"]: one for one in room.done("crl", "show", "--json").documents}
    assert found[old.kid]["next_update"].startswith(f"{old.certificate.not_valid_after_utc:%Y-%m-}")
    assert len(found[before[0].kid]["entries"]) == 1
    later = now + REBUILT_EVERY + timedelta(minutes=1)
    assert revocation.renew_old_lists(room.engine, before, later) is not None
    assert revocation.renew_old_lists(room.engine, before, later) is None


def test_without_the_roots_key_there_is_no_next_one(room: CaRoom) -> None:
    (room.ca / "root.key").rename(room.folder / "offline.key")
    said = room.gatepost("ca", "prepare")
    assert said.code == 2
    assert "bring it here" in said.err
    room.issue("a")  # all else goes on without it


def audited(room: CaRoom, action: str, what: str) -> int:
    """How often it is in the log, of this one."""
    entries = room.done("audit", "show", "--action", action, "--json").documents
    return sum(what in json.dumps(one) for one in entries)


def test_a_switch_that_was_interrupted_after_the_files_goes_on(room: CaRoom) -> None:
    room.done("ca", "prepare")
    made = founding.switch(room.ca)
    assert audited(room, "issuer.switched", made.kid) == 0
    assert room.done("ca", "switch", "--yes", "--json").json["intermediate"] == made.kid
    assert audited(room, "issuer.switched", made.kid) == 1


def test_a_switch_that_was_interrupted_while_it_removed_the_next_one_goes_on(room: CaRoom) -> None:
    room.done("ca", "prepare")
    left = (room.ca / "next.pem").read_bytes()
    room.done("ca", "switch", "--yes")
    (room.ca / "next.pem").write_bytes(left)  # the key goes first
    assert len(Authorities(room.ca).all) == 2, "a certificate without its key counts for nothing"
    room.done("ca", "switch", "--yes")
    assert not (room.ca / "next.pem").exists()


@pytest.mark.parametrize("gone", ["pem", "key"])
def test_a_retirement_that_was_interrupted_goes_on(room: CaRoom, gone: str) -> None:
    room.done("ca", "prepare")
    room.done("ca", "switch", "--yes")
    (room.ca / f"retiring.{gone}").unlink()
    assert len(Authorities(room.ca).all) == 1
    assert room.gatepost("ca", "retire", "--dry-run").code == 4
    room.done("ca", "retire", "--yes")
    assert not list(room.ca.glob("retiring.*"))
    room.done("ca", "prepare")


def test_init_replaces_no_root(room: CaRoom) -> None:
    kid = Authorities(room.ca).signing.kid
    kept = {name: (room.ca / name).read_bytes() for name in ("root.pem", "root.key")}
    (room.ca / "intermediate.pem").unlink()
    (room.ca / "root.key").rename(room.folder / "offline.key")
    said = room.gatepost("ca", "init")
    assert said.code == 2
    assert "bring it here" in said.err
    (room.folder / "offline.key").rename(room.ca / "root.key")
    room.done("ca", "init")
    assert {name: (room.ca / name).read_bytes() for name in kept} == kept
    assert Authorities(room.ca).signing.kid == kid, "its key was still there"
    root, made = (x509.load_pem_x509_certificate((room.ca / f"{name}.pem").read_bytes())
                  for name in ("root", "intermediate"))  # fmt: skip
    made.verify_directly_issued_by(root)


def test_an_init_that_was_interrupted_goes_on_with_the_roots_key(room: CaRoom) -> None:
    key = (room.ca / "root.key").read_bytes()
    for name in ("root.pem", "intermediate.pem", "intermediate.key"):
        (room.ca / name).unlink()
    room.done("ca", "init")
    assert (room.ca / "root.key").read_bytes() == key
    room.issue("a")


def test_a_switch_that_was_interrupted_goes_on(room: CaRoom) -> None:
    room.done("ca", "prepare")
    old, new = (x509.load_pem_x509_certificate((room.ca / f"{n}.pem").read_bytes())
                for n in ("intermediate", "next"))  # fmt: skip
    # The power goes out between the two files of the copy.
    for part in ("key", "pem"):
        (room.ca / f"retiring.{part}").write_bytes((room.ca / f"intermediate.{part}").read_bytes())
    (room.ca / "intermediate.key").write_bytes((room.ca / "next.key").read_bytes())
    assert room.gatepost("cert", "list").code == 0
    room.done("ca", "switch", "--yes")
    authorities = Authorities(room.ca)
    assert [one.certificate for one in authorities.all] == [new, old]
    room.issue("a")
