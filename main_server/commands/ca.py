"""The work of `gatepost ca …` and `gatepost crl …`, and what they print."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import typer
from cryptography import x509

from gatepost.cli.output import Output
from gatepost.cli.words import plural, validity
from gatepost.clock import iso, to_ms
from gatepost.config.settings import load
from gatepost.errors import NotFound
from gatepost.trust.certificates import find_extension, read_crl
from gatepost.trust.revocation import Reason
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.ca import founding, repository, revocation
from main_server.ca.authorities import Authorities
from main_server.ca.authority import Authority, utc_now
from main_server.ca.revoked.repository import read_revocations
from main_server.commands.ca_opening import Opened, actor, confirm, end, opened
from main_server.commands.failures import in_words
from main_server.settings import CaOnly
from main_server.store.database import transact

_LOOK = "`gatepost ca status` shows what there is."


def init(config: Path | None, *, json: bool) -> None:
    """Make the CA. This needs no ledger: nothing is issued yet."""
    with in_words(_LOOK):
        folder = load(CaOnly, config).ca.folder
        made = founding.init_authority(folder, utc_now())
        kid = Authorities(folder).signing.kid
    words = (
        f"The CA is in {folder}. Take {folder / 'root.key'} offline, and keep it safe."
        if made
        else f"The CA in {folder} was there already."
    )
    _tell(Output(json=json), {"folder": str(folder), "made": made, "intermediate": kid}, words)


def status(config: Path | None, *, json: bool) -> None:
    output, now = Output(json=json), datetime.now(UTC)
    with opened(config, _LOOK) as ca:
        root_key = (ca.settings.ca.folder / "root.key").exists()
        counts = transact(ca.engine, partial(repository.count_by_issuer, now=now))
        authorities = [
            _authority(one, state, counts.get(one.kid, 0)) for one, state in ca.authorities.states
        ]
        lists = _lists(ca)
    if json:
        output.result({"root_key_online": root_key, "authorities": authorities, "crls": lists})
        return
    for one in authorities:
        ends = validity(datetime.fromisoformat(one["not_after"]), now)
        signed = plural(one["active"], "active certificate")
        output.say(f"{one['kid'][:8]}  {one['state']:<9} {ends}, {signed}")
    for crl in lists:
        ends = validity(datetime.fromisoformat(crl["next_update"]), now)
        entries = plural(len(crl["entries"]), "entry").replace("entrys", "entries")
        output.say(f"{crl['issuer'][:8]}  list {crl['number']}, {entries}, {ends}")
    if root_key:
        output.say(("The root's key is here: it belongs offline.", "yellow"))


def pins(config: Path | None) -> None:
    with in_words(_LOOK):
        typer.echo(founding.read_pins(load(CaOnly, config).ca.folder).decode(), nl=False)


def prepare(config: Path | None, *, json: bool) -> None:
    with opened(config, _LOOK) as ca:
        made = founding.prepare(ca.settings.ca.folder, utc_now())
        _follow(ca, "issuer.prepared", made)
    words = (
        f"The next intermediate is {made.kid[:8]}. Give all peers the CA file that "
        "`gatepost ca pins` writes; then: gatepost ca switch"
    )
    _tell(Output(json=json), {"next": made.kid}, words)


def switch(config: Path | None, *, yes: bool, json: bool) -> None:
    with opened(config, _LOOK) as ca:
        question = "Do all peers have the CA file with the next intermediate?"
        confirm(question, yes=yes, instead="once all peers have the file of `gatepost ca pins`")
        made = founding.switch(ca.settings.ca.folder)
        _follow(ca, "issuer.switched", made)
    words = (
        f"{made.kid[:8]} signs now, and every holder may renew at once. "
        "`gatepost ca status` counts who hasn't; then: gatepost ca retire"
    )
    _tell(Output(json=json), {"intermediate": made.kid}, words)


def retire(config: Path | None, *, yes: bool, dry_run: bool, json: bool) -> None:
    output, now = Output(json=json), datetime.now(UTC)
    with opened(config, _LOOK) as ca:
        old = next((one for one, state in ca.authorities.states if state == "retiring"), None)
        if old is None:
            _clear(ca, output, dry_run=dry_run)
            return
        left = transact(ca.engine, partial(repository.count_by_issuer, now=now)).get(old.kid, 0)
        document = {"retired": None if dry_run else old.kid, "active": left}
        if dry_run:
            _tell(output, document, f"{plural(left, 'active certificate')} would be revoked.")
            return
        confirm(f"Revoke {plural(left, 'active certificate')} of {old.kid[:8]}?", yes=yes)
        revocation.retire_issuer(ca.engine, ca.authorities.all, old, now, actor())
        told = ca.publish()
        founding.retire(ca.settings.ca.folder)
    words = f"{old.kid[:8]} is retired. Give all peers the CA file of `gatepost ca pins`."
    _tell(output, document, words)
    end(told=told)


def _clear(ca: Opened, output: Output, *, dry_run: bool) -> None:
    """Finish a retirement that was interrupted after the key had gone, which is the last step but
    one."""
    if dry_run or not founding.retire(ca.settings.ca.folder):
        raise NotFound("No intermediate is retiring.")
    words = "What was left of it is gone. Give all peers the CA file of `gatepost ca pins`."
    _tell(output, {"retired": None, "active": 0}, words)


def show_crl(config: Path | None, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config, _LOOK) as ca:
        lists = _lists(ca)
    if not lists:
        raise NotFound("No list was made yet: run `gatepost crl publish`.")
    for crl in lists:
        if json:
            output.result(crl)
            continue
        output.say((f"{crl['issuer']}", "bold"), f" number {crl['number']}")
        output.say(f"  {crl['this_update']} to {crl['next_update']}")
        for entry in crl["entries"]:
            output.say(f"  {entry['serial']}  {entry['reason']}  {entry['revoked_at']}")


def publish(config: Path | None, *, json: bool) -> None:
    with opened(config, _LOOK) as ca:
        number = revocation.renew_lists(ca.engine, ca.authorities.all, datetime.now(UTC))
        told = ca.publish()
        file = ca.settings.ca.crl_file
    words = f"The lists are signed anew; they are in {file}."
    _tell(Output(json=json), {"revocation_number": number, "file": str(file)}, words)
    end(told=told)


def _follow(ca: Opened, action: str, made: Authority) -> None:
    """Have the audit log, the lists and those who read them follow the files, which have
    changed."""
    entry, now = Entry(actor(), action, f"issuer {made.kid}"), datetime.now(UTC)
    transact(ca.engine, lambda c: audit.append(c, entry, now))
    revocation.renew_lists(ca.engine, ca.authorities.all, now)
    ca.publish()


def _authority(one: Authority, state: str, active: int) -> dict[str, Any]:
    return {
        "kid": one.kid,
        "state": state,
        "not_after": iso(to_ms(one.certificate.not_valid_after_utc)),
        "active": active,
    }


def _lists(ca: Opened) -> list[dict[str, Any]]:
    found = transact(ca.engine, read_revocations).crls
    return [_list(read_crl(der)) for der in found]


def _list(crl: x509.CertificateRevocationList) -> dict[str, Any]:
    signer, number = (
        find_extension(crl, x509.AuthorityKeyIdentifier),
        find_extension(crl, x509.CRLNumber),
    )
    assert signer is not None
    assert number is not None
    assert crl.next_update_utc is not None
    return {
        "issuer": (signer.key_identifier or b"").hex(),
        "number": number.crl_number,
        "this_update": iso(to_ms(crl.last_update_utc)),
        "next_update": iso(to_ms(crl.next_update_utc)),
        "entries": [_entry(one) for one in crl],
    }


def _entry(one: x509.RevokedCertificate) -> dict[str, Any]:
    said = find_extension(one, x509.CRLReason)
    return {
        "serial": f"{one.serial_number:032x}",
        "reason": said.reason.value if said else Reason.UNSPECIFIED.value,
        "revoked_at": iso(to_ms(one.revocation_date_utc)),
    }


def _tell(output: Output, document: Mapping[str, object], words: str) -> None:
    if output.json:
        output.result(document)
    else:
        output.say(words)
