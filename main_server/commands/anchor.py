"""The work of `gatepost anchor …` and `gatepost cert register`, and what they print."""

from datetime import UTC, datetime
from pathlib import Path

from gatepost.cli.output import Output
from gatepost.cli.words import plural
from gatepost.clock import iso, to_ms
from gatepost.errors import NotFound
from gatepost.trust.identity import Identity, Role
from main_server.ca.anchors import service
from main_server.ca.anchors.repository import list_anchors
from main_server.ca.files import read
from main_server.ca.holders import place_holder
from main_server.ca.list_repository import Filter, Status
from main_server.ca.listing import list_certificates
from main_server.ca.revoked.repository import Selection
from main_server.commands.ca_opening import actor, confirm, end, opened
from main_server.store.database import transact


def add(config: Path | None, domain: str, file: Path, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as ca:
        now = datetime.now(UTC)
        made = service.add(ca.engine, ca.settings.ca.folder, domain, read(file), now, actor())
    if json:
        output.result(service.describe(made))
        return
    output.say((made.id, "bold"), f" is trusted for the clients of {domain}.")
    output.say("Proxies take it up within seconds; register each certificate that is to be known.")


def list_all(config: Path | None, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as ca:
        found = transact(ca.engine, list_anchors)
    for one in found:
        said = service.describe(one)
        if json:
            output.result(said)
        else:
            output.say(f"{said['anchor']}  {said['domain']}  {said['subject']}")


def remove(config: Path | None, anchor: str, *, yes: bool, dry_run: bool, json: bool) -> None:
    output, now = Output(json=json), datetime.now(UTC)
    with opened(config) as ca:
        known = [one for one in transact(ca.engine, list_anchors) if one.id == anchor]
        if not known:
            raise NotFound("There is no such trust anchor.")
        which = Filter(Selection(anchor=known[0].anchor), Status.ACTIVE)
        rows = list_certificates(ca.engine, which, now)
        words = f"{plural(len(rows), 'active certificate')} of {known[0].domain}"
        if dry_run:
            _say(output, [row.serial for row in rows], f"{words} would be revoked.")
            return
        confirm(f"Remove it, and revoke {words}?", yes=yes)
        done = service.remove(ca.engine, ca.authorities.all, anchor, now, actor())
        told = ca.publish()
    _say(output, done.serials, f"Removed; {plural(len(done.serials), 'certificate')} revoked.")
    end(told=told)


def register(config: Path | None, name: str, file: Path, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as ca:
        domain, holder = place_holder(ca.engine, name)
        identity = Identity(domain, Role.CLIENT, holder)
        made = service.register(ca.engine, identity, read(file), datetime.now(UTC), actor())
    if json:
        said = {"serial": made.serial, "fingerprint": made.fingerprint.hex()}
        times = {"not_after": iso(to_ms(made.not_after)), "anchor": made.anchor.hex()}
        output.result({"identity": identity.uri, **said, **times})
        return
    output.say((identity.uri, "bold"), f", here by the number {made.serial}")


def _say(output: Output, serials: list[str], words: str) -> None:
    if output.json:
        output.result({"serials": serials})
    else:
        output.say(words)
