"""The work of `gatepost keys …`, and what it prints."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import typer

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import plural
from gatepost.errors import NotFound
from main_server.commands.ca_opening import actor
from main_server.commands.keys_opening import Opened, opened
from main_server.keys import service_keys
from main_server.keys.alone import alone
from main_server.keys.backup.content import read_backup, sealing_of
from main_server.keys.backup.form import Sealing, read_passphrase
from main_server.keys.backup.restore import BLOCKED, DESTROYED, PRESENT, RESTORED, restore
from main_server.keys.backup.standing import renew_backup, replace_backup
from main_server.keys.destroy import Plan, destroy, plan
from main_server.keys.listing import describe_all
from main_server.keys.reencrypt import reencrypt
from main_server.keys.repository import Pair
from main_server.keys.rewrap import rotate as master_key


def list_keys(config: Path | None, client: str | None, day: date | None, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as keys:
        for document, words in describe_all(keys.engine, keys.masters, client, day):
            if json:
                output.result(document)
            else:
                output.say(words)


def rotate(config: Path | None, what: str, *, prepare: bool, json: bool) -> None:
    if prepare and what != "master":
        raise Failure("usage", "--prepare is for the master key.")
    output = Output(json=json)
    with opened(config) as keys:
        if what == "master":
            document, words = _rotate_master(keys, output, only_prepare=prepare)
        else:
            service_keys.begin(keys.engine, keys.masters)
            new = service_keys.replace(keys.engine, keys.masters, what.replace("-", "_"))
            renew_backup(keys.engine, keys.masters, keys.settings)
            document = {"rotated": what, "kid": new.kid.hex()}
            words = f"The {what} key is {new.kid.hex()} now; servers follow within seconds."
    _tell(output, document, words)


def destroy_day(config: Path | None, client: str, day: date, *, yes: bool, json: bool) -> None:
    output, pair = Output(json=json), (client, day)
    with opened(config) as keys:
        planned = plan(keys.engine, pair, _now())
        if not planned.keys and planned.destroyed is None:
            raise NotFound(f"{client} has no data key of {day}.")
        if planned.refusal:
            raise planned.refusal
        if not yes:
            _tell(output, _document(planned, pair, done=False), _would(planned, pair))
            return
        with alone(keys.engine), output.busy("erasing"):
            erased = max(destroy(keys.engine, pair, _now(), actor()), default=0)
            renew_backup(keys.engine, keys.masters, keys.settings)
    words = f"The key of {client} for {day} is destroyed; {plural(erased, 'message')} erased."
    document = _document(planned, pair, done=True) | {"erased": erased}
    _tell(output, document, words)
    if keys.settings.backup_file is None:
        _warn("keys.backup_file is not set: a backup that was made of the keys still opens them.")


def reencrypt_day(config: Path | None, client: str, day: date, *, json: bool) -> None:
    output, pair = Output(json=json), (client, day)
    with opened(config) as keys, alone(keys.engine):
        with output.busy("sealing again"):
            moved = max(reencrypt(keys.engine, keys.masters, pair), default=0)
        renew_backup(keys.engine, keys.masters, keys.settings)
    words = f"{plural(moved, 'message')} of {client} for {day} have another key; the old is gone."
    _tell(output, {"client_id": client, "day": day.isoformat(), "messages": moved}, words)


def back_up(config: Path | None, file: Path, passphrase_file: Path | None, *, json: bool) -> None:
    with opened(config) as keys:
        standing = keys.settings.backup_file
        if standing is not None and standing.absolute() != file.absolute():
            words = f"The one backup of the keys is {standing} (keys.backup_file)."
            raise Failure("usage", words, "A second one would keep what is destroyed.")
        sealing = _sealing(keys, passphrase_file)
        count = replace_backup(keys.engine, sealing, file)
    _tell(
        Output(json=json), {"file": str(file), "keys": count}, f"{plural(count, 'key')} in {file}."
    )
    if standing is None:
        _warn("Set keys.backup_file to it, or what you destroy stays in there.")


def bring_back(
    config: Path | None, file: Path, passphrase_file: Path | None, *, json: bool
) -> None:
    with opened(config) as keys, alone(keys.engine):
        content = read_backup(_sealing(keys, passphrase_file), file)
        fates = restore(keys.engine, keys.masters, content)
    counts = {fate: fates[fate] for fate in (RESTORED, PRESENT, DESTROYED, BLOCKED)}
    words = (
        f"{plural(counts[RESTORED], 'key')} restored; {counts[PRESENT]} were there; "
        f"{counts[DESTROYED]} were destroyed and stay so."
    )
    _tell(Output(json=json), counts, words)
    if counts[BLOCKED]:
        words = f"{plural(counts[BLOCKED], 'key')} found two others for the same day."
        raise Failure("refused", words, "`gatepost keys list` shows which reencrypt must finish.")


def _rotate_master(
    keys: Opened, output: Output, *, only_prepare: bool
) -> tuple[dict[str, object], str]:
    file = keys.settings.master_key_file
    with alone(keys.engine):
        began = master_key.prepare(keys.engine, file)
        keys.masters.refresh()
        kid = keys.masters.newest.kid.hex()
        if only_prepare:
            words = (
                f"{file} holds the new key {kid} and the old one. Copy it to the other machines."
            )
            return {"rotated": None, "prepared": kid}, f"{words} Then: gatepost keys rotate master"
        with output.busy("wrapping again"):
            done = max(master_key.rewrap(keys.engine, keys.masters), default=0)
        renew_backup(keys.engine, keys.masters, keys.settings)
        master_key.finish(keys.engine, file)
    document: dict[str, object] = {"rotated": "master", "kid": kid, "keys": done, "began": began}
    words = f"The master key is {kid}; {plural(done, 'key')} wrapped again."
    return document, words if began else f"{words} That was begun before."


def _sealing(keys: Opened, passphrase_file: Path | None) -> Sealing:
    if passphrase_file is None:
        return sealing_of(keys.settings, keys.masters)
    return Sealing(keys.masters, read_passphrase(passphrase_file))


def _document(planned: Plan, pair: Pair, *, done: bool) -> dict[str, object]:
    return {
        "client_id": pair[0],
        "day": pair[1].isoformat(),
        "destroyed": done or planned.destroyed is not None,
        "keys": [str(key.key_id) for key in planned.keys],
        "messages": planned.messages,
    }


def _would(planned: Plan, pair: Pair) -> str:
    counted = ", ".join(f"{count} {status}" for status, count in sorted(planned.messages.items()))
    total = plural(sum(planned.messages.values()), "message")
    if planned.destroyed is not None:
        state = "all erased" if planned.destroyed.finished_at else "not all erased yet"
        return f"The key of {pair[0]} for {pair[1]} is destroyed: {total}, {state} ({counted})."
    return (
        f"{pair[0]}, {pair[1]}: {total} ({counted or 'none'}) could never be read again, in no "
        "backup either. Nothing was done: --yes does it."
    )


def _tell(output: Output, document: Mapping[str, object], words: str) -> None:
    if output.json:
        output.result(document)
    else:
        output.say(words)


def _warn(words: str) -> None:
    typer.echo(f"gatepost: {words}", err=True)


def _now() -> datetime:
    """Return this machine's time, beside which the ledger's is held."""
    return datetime.now(UTC).replace(tzinfo=None)
