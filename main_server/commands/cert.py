"""The work of the operator's part of `gatepost cert …`, and what it prints."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from ssl import DER_cert_to_PEM_cert

from gatepost.cli.output import Output
from gatepost.cli.words import plural, validity
from gatepost.errors import NotFound
from gatepost.trust.certificates import read_certificates
from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import Reason
from main_server.ca import files, revocation
from main_server.ca.authority import Usage
from main_server.ca.enrolment import make_token
from main_server.ca.founding import read_pins
from main_server.ca.holders import place_holder
from main_server.ca.list_repository import MOST, Filter, Row, Status
from main_server.ca.listing import describe, list_certificates
from main_server.ca.requests import Asked, grant, select
from main_server.ca.revoked.repository import Selection
from main_server.commands.ca_opening import Opened, actor, confirm, end, opened
from main_server.commands.target import Target
from main_server.store.database import transact

_NONE = "No such certificate is there to be revoked."


@dataclass(frozen=True, slots=True)
class Wanted:
    name: str
    role: Role
    usage: str | None
    hosts: tuple[str, ...]
    days: float | None
    csr: Path | None


@dataclass(frozen=True, slots=True)
class Shown:
    domain: str | None
    role: Role | None
    name: str | None
    status: str | None
    expiring: float | None


def issue(
    config: Path | None, wanted: Wanted, out: Path, password_file: Path | None, *, json: bool
) -> None:
    with opened(config) as ca:
        domain, name = place_holder(ca.engine, wanted.name)
        password = files.read_password(password_file) if password_file is not None else None
        place = files.Place(out, name, password, own_key=wanted.csr is None)
        place.check()
        asked = Asked(
            Identity(domain, wanted.role, name),
            Usage[wanted.usage.upper()] if wanted.usage else None,
            wanted.hosts,
            timedelta(days=wanted.days) if wanted.days is not None else None,
            files.read(wanted.csr) if wanted.csr else None,
        )
        made = grant(ca.engine, ca.authorities.signing, asked, _now(), actor())
        written = place.write(made, read_pins(ca.settings.ca.folder))
    output = Output(json=json)
    if json:
        output.result(
            {
                "identity": asked.identity.uri,
                "serial": made.serial,
                "fingerprint": made.fingerprint,
                "not_after": made.certificate.not_valid_after_utc,
                "files": [str(file) for file in written],
            }
        )
        return
    expiry = validity(made.certificate.not_valid_after_utc, _now())
    output.say((asked.identity.uri, "bold"), f" {expiry}, serial {made.serial}")
    output.say("Written: ", ", ".join(str(file) for file in written))


def token(config: Path | None, name: str, minutes: float, *, json: bool) -> None:
    lifetime = timedelta(minutes=minutes)
    with opened(config) as ca:
        domain, holder = place_holder(ca.engine, name)
        identity = Identity(domain, Role.CLIENT, holder)
        root, *_ = read_certificates(files.read(ca.settings.ca.folder / "root.pem"))
        made = make_token(ca.engine, identity, root, lifetime, _now(), actor())
        url = ca.settings.ca.public_url
    output = Output(json=json)
    if json:
        expires_at = _now() + lifetime
        said = {"token": str(made), "identity": identity.uri, "expires_at": expires_at}
        output.result({**said, "url": url})
        return
    output.say(str(made))
    output.say(f"For {identity.uri}, good once: gatepost enrol {url or 'URL'}")


def list_all(config: Path | None, shown: Shown, *, json: bool) -> None:
    output, now = Output(json=json), _now()
    selection = Selection(domain=shown.domain, role=shown.role, name=shown.name)
    wanted = Filter(
        selection,
        Status(shown.status) if shown.status else None,
        timedelta(days=shown.expiring) if shown.expiring is not None else None,
    )
    with opened(config) as ca:
        for row in _pages(ca, wanted, now):
            _say(output, row, now)


def show(config: Path | None, target: Target, *, pem: bool, json: bool) -> None:
    output, now = Output(json=json), _now()
    with opened(config) as ca:
        for row in _found(ca, target, now):
            if pem and row.der:
                output.say(DER_cert_to_PEM_cert(row.der).rstrip())
            elif not pem:
                _tell(output, row, now)


def revoke(
    config: Path | None, target: Target, reason: str, *, yes: bool, dry_run: bool, json: bool
) -> None:
    output, now = Output(json=json), _now()
    held = reason == Reason.CERTIFICATE_HOLD
    with opened(config) as ca:
        selection = _selection(ca, target)
        able = (Status.ACTIVE, Status.EXPIRED, Status.HELD, Status.INTENDED)
        rows = [
            row
            for row in _pages(ca, Filter(selection), now)
            if row.status_at(now) in (able[:2] if held else able)
        ]
        serials = [row.serial for row in rows]
        count = partial(revocation.count_tokens, selection=selection, serials=serials, now=now)
        tokens = transact(ca.engine, count)
        if not rows and not tokens:
            raise NotFound(_NONE)
        if dry_run:
            for row in rows:
                _say(output, row, now)
            _say_tokens(output, tokens)
            return
        verb = "Hold" if held else "Revoke for good"
        which = f"{plural(len(rows), 'certificate')} ({_names(rows)})" if rows else "the tokens"
        confirm(f"{verb} {which}?", yes=yes)
        done = revocation.revoke(
            ca.engine, ca.authorities.all, selection, Reason(reason), _now(), actor()
        )
        if not done.serials and not done.tokens:
            raise NotFound(_NONE)
        told = ca.publish()
    _report(output, "held" if held else "revoked", done, told=told)


def _say_tokens(output: Output, tokens: int) -> None:
    if tokens and output.json:
        output.result({"tokens_withdrawn": tokens})
    elif tokens:
        output.say(f"{plural(tokens, 'token')} to enrol with")


def release(config: Path | None, target: Target, *, json: bool) -> None:
    with opened(config) as ca:
        selection = _selection(ca, target)
        done = revocation.release(ca.engine, ca.authorities.all, selection, _now(), actor())
        if not done.serials:
            raise NotFound("No such certificate is on hold.")
        told = ca.publish()
    _report(Output(json=json), "released", done, told=told)


def _report(output: Output, verb: str, done: revocation.Revocation, *, told: bool) -> None:
    if output.json:
        said = {"revocation_number": done.number, "redis_told": told}
        output.result({verb: done.serials, "tokens_withdrawn": done.tokens, **said})
    else:
        tokens = f", {plural(done.tokens, 'token')} withdrawn" if done.tokens else ""
        output.say(f"{plural(len(done.serials), 'certificate')} {verb}{tokens}.")
    end(told=told)


def _selection(ca: Opened, target: Target) -> Selection:
    return select(ca.engine, target.name, target.serial, target.fingerprint, target.role)


def _found(ca: Opened, target: Target, now: datetime) -> list[Row]:
    found = list(_pages(ca, Filter(_selection(ca, target)), now))
    if not found:
        raise NotFound("No such certificate is in the ledger.")
    return found


def _pages(ca: Opened, wanted: Filter, now: datetime) -> Iterator[Row]:
    while True:
        rows = list_certificates(ca.engine, wanted, now)
        yield from rows
        if len(rows) < MOST:
            return
        wanted = replace(wanted, after=rows[-1].serial)


def _say(output: Output, row: Row, now: datetime) -> None:
    if output.json:
        output.result(describe(row, now))
        return
    ends = validity(row.not_after.replace(tzinfo=UTC), now)
    output.say(f"{row.serial}  {row.status_at(now):<8}  {row.identity.uri}  {ends}")


def _tell(output: Output, row: Row, now: datetime) -> None:
    document = describe(row, now)
    if output.json:
        output.result(document)
        return
    output.say((row.identity.uri, "bold"))
    for name, value in document.items():
        if value is not None and name != "identity":
            output.say((f"  {name:<12}", "dim"), str(value))


def _names(rows: list[Row]) -> str:
    names = sorted({row.identity.uri for row in rows})
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _now() -> datetime:
    return datetime.now(UTC)
