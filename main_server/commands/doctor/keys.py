"""The looks at a main server's keys and CA, beyond what each service's files are asked for
anyway."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection

from gatepost.cli.doctor.look import Finding, Findings, Look, fine, unknown, warning, wrong
from gatepost.cli.words import duration
from gatepost.errors import ConfigurationError
from gatepost.trust.certificates import read_crl
from main_server.ca.crl_file import read_crl_file
from main_server.commands.doctor import repository
from main_server.commands.doctor.asking import Here, here, of_ledger
from main_server.keys.master import read_master_keys

KEPT_IN = "/var/backups/gatepost/keys/keys.backup"
"""The file in the sample of settings."""
MADE_EVERY = timedelta(hours=3)
"""The age past which a list is too old: a running main server makes one every hour, and a machine
may have been busy."""


def see_keys(one: Here, connection: Connection) -> Findings:
    file = one.settings.keys.master_key_file
    try:
        held = {key.kid for key in read_master_keys(file)}
    except ConfigurationError as error:
        yield unknown(error.detail, "sudo gatepost doctor keys")
        return
    stored = repository.list_master_kids(connection)
    if unknown_ := sorted(kid.hex() for kid in stored - held):
        words = f"keys are stored under a master key that is not in {file}: {', '.join(unknown_)}"
        yield wrong(words, f"gatepost keys list --config {one.file}")
    else:
        yield fine(f"{file} opens all keys that are stored")


def see_key_backup(one: Here) -> Findings:
    """Look at the backup of keys. It has one generation, written anew whenever a key is
    destroyed."""
    file = one.settings.keys.backup_file
    make = f"gatepost keys backup {file or KEPT_IN} --config {one.file}"
    if file is None:
        if one.settings.environment == "production":
            yield warning("keys.backup_file is not set: no backup of keys is kept", make)
    elif not file.exists():
        yield wrong(f"there is no {file} yet", make)
    else:
        yield fine(f"{file} is there")


def see_revoked(one: Here) -> Findings:
    file = one.settings.ca.crl_file
    publish = f"gatepost crl publish --config {one.file}"
    try:
        lists = [read_crl(der) for der in read_crl_file(file)]
    except ConfigurationError as error:
        denied = isinstance(error.__context__, PermissionError)
        yield unknown(error.detail) if denied else wrong(error.detail, "gatepost backup list")
        return
    if not lists:
        yield wrong(f"there is no {file}", publish)
        return
    now = datetime.now(UTC)
    made = min(one.last_update_utc for one in lists)
    until = min(one.next_update_utc or one.last_update_utc for one in lists)
    yield judge_list(file, now - made, until - now, publish)


def judge_list(file: Path, age: timedelta, left: timedelta, publish: str) -> Finding:
    words = f"{file} was made {duration(age.total_seconds())} ago"
    if left <= timedelta():
        return wrong(f"{words}, and is past its time", publish)
    return warning(words, publish) if age > MADE_EVERY else fine(words)


def see_root(one: Here) -> Findings:
    if one.settings.environment != "production":
        return
    key = one.settings.ca.folder / "root.key"
    if key.exists():
        yield warning(f"the root's key is here: {key}", f"gatepost ca status --config {one.file}")
    else:
        yield fine("the root's key is not on this machine")


LOOKS = (
    Look(
        name="keys",
        at="whether the master key file opens what is stored",
        why="what it doesn't open nobody reads again",
        mend="gatepost keys list",
        see=of_ledger(see_keys),
    ),
    Look(
        name="keys-backup",
        at="whether a backup of the keys is kept",
        why="without the keys a backup of the ledger can't be read",
        mend=f"gatepost keys backup {KEPT_IN}",
        see=here(see_key_backup),
    ),
    Look(
        name="revoked",
        at="how old the list of revoked certificates is, and whether it still counts",
        why="without a list that counts everybody is refused",
        mend="gatepost crl publish",
        see=here(see_revoked),
    ),
    Look(
        name="root-key",
        at="whether the root's key lies on this machine",
        why="who has it can make certificates that everybody here trusts",
        mend="gatepost ca status",
        see=here(see_root),
    ),
)
