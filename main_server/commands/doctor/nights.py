"""The looks at what runs at night, and whether it did: backup, drill, retention; and checks of the
audit log."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection

from gatepost.cli.doctor.look import (
    CantTell,
    Finding,
    Findings,
    Look,
    fine,
    unknown,
    warning,
    wrong,
)
from gatepost.cli.words import ago
from gatepost.config.settings import ServiceSettings
from main_server.audit.check_repository import find_last_ended
from main_server.backup.content import find_all
from main_server.backup.metrics import LAST_DRILL
from main_server.backup.settings import BackupSettings
from main_server.commands.doctor.asking import Here, asking, here, of_ledger
from main_server.retention import run_repository as runs

S = TypeVar("S", bound=ServiceSettings)
BACKUP_EVERY, DRILL_EVERY, RETAIN_EVERY = (
    timedelta(hours=26),
    timedelta(days=8),
    timedelta(hours=26),
)
BACKUP_UNIT = "gatepost-backup"
"""The unit that makes a backup, and tries it."""
CHECK_EVERY = timedelta(days=2)
DRILLED = "gatepost_backup_drill_last_success_timestamp_seconds"


def see_backup(one: Here) -> Findings:
    settings = _of(one, "backup", BackupSettings)
    if settings is None:
        if one.settings.environment == "production":
            words = f"no backup is made here: there is no {one.beside('backup')}"
            yield warning(words, "gatepost backup --help")
        return
    make = f"gatepost backup create --config {one.beside('backup')}"
    make = one.site.at_night(BACKUP_UNIT, make)
    found = find_all(settings.store.folder) if settings.store.folder.is_dir() else []
    yield judge_age("a backup was made", found[-1].begun_at if found else None, BACKUP_EVERY, make)
    yield from judge_owners(settings)


def judge_owners(settings: BackupSettings) -> Findings:
    """Judge who owns the backups, and what is said of them: the unit, which may be nobody but the
    folder's owner, can't take away what is another's."""
    folder, said = settings.store.folder, settings.metrics_folder
    if not folder.is_dir():
        return
    ours = folder.stat().st_uid
    made = [*folder.iterdir(), *(said.glob("gatepost_backup_*") if said else ())]
    if others := sorted(file for file in made if file.lstat().st_uid != ours):
        words = f"{others[0]} is not his who makes the backups, and stays in his way"
        yield wrong(words, f"chown -R --reference={folder} {' '.join(map(str, others))}")


def see_drill(one: Here) -> Findings:
    settings = _of(one, "backup", BackupSettings)
    if settings is None:
        return
    drill = f"gatepost backup drill --config {one.beside('backup')}"
    drill = one.site.at_night(BACKUP_UNIT, drill)
    if settings.metrics_folder is None:
        yield unknown("nobody notes when a backup was tried: set metrics_folder", drill)
        return
    seconds = _metrics(settings.metrics_folder / LAST_DRILL).get(DRILLED)
    at = None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    found = judge_age("a backup was tried", at, DRILL_EVERY, drill)
    yield warning(found.found, drill) if found.command else found


def see_retention(one: Here) -> Findings:
    if not one.beside("retention").is_file() or one.settings.environment != "production":
        return
    run = f"gatepost retention run --config {one.beside('retention')}"
    run = one.site.at_night("gatepost-retention", run)
    with asking(one) as connection:
        last = runs.last_done(connection)
    ended = last.ended_at.replace(tzinfo=UTC) if last and last.ended_at else None
    found = judge_age("what is past its day was taken away", ended, RETAIN_EVERY, run)
    yield warning(found.found, run) if found.command else found


def see_audit(one: Here, connection: Connection) -> Findings:
    """Look at the last check of the audit log. Main servers check it once a day; to walk all of it
    takes too long for a look."""
    verify = f"gatepost audit verify --config {one.file}"
    last = find_last_ended(connection)
    if last is None or last.ended_at is None:
        yield fine("it was not checked yet")
    elif last.fault:
        when = f"{last.created_at:%Y-%m-%d %H:%M} UTC"
        yield wrong(f"the check of {when} has found: {last.fault}", verify)
    else:
        ended = last.ended_at.replace(tzinfo=UTC)
        found = judge_age("it was found whole", ended, CHECK_EVERY, verify)
        yield warning(found.found, verify) if found.command else found


def judge_age(what: str, at: datetime | None, most: timedelta, command: str) -> Finding:
    if at is None:
        return wrong(f"never yet: {what}", command)
    now = datetime.now(UTC)
    words = f"{what} {ago(at, now)}"
    return wrong(words, command) if now - at > most else fine(words)


def _of(one: Here, name: str, kind: type[S]) -> S | None:
    """Return the settings of this command; None if it has none here."""
    if name not in one.site.parts:
        return None
    settings = one.site.of(name, kind)
    if settings is None:
        raise CantTell(f"the settings of {name} can't be used", "gatepost doctor settings")
    return settings


def _metrics(file: Path) -> Mapping[str, float]:
    """Return the metrics that were written for the node exporter; none if there is no file."""
    try:
        families = list(text_string_to_metric_families(file.read_text()))
    except FileNotFoundError:
        return {}
    return {sample.name: sample.value for family in families for sample in family.samples}


LOOKS = (
    Look(
        name="backup",
        at="when the last backup was made",
        why="what isn't in a backup is gone with the disk",
        mend="systemctl start gatepost-backup",
        see=here(see_backup),
    ),
    Look(
        name="backup-drill",
        at="when a backup was last restored, for trial",
        why="only a backup that was restored is one",
        mend="systemctl start gatepost-backup",
        see=here(see_drill),
    ),
    Look(
        name="retention",
        at="when what is past its day was last taken away",
        why="what was promised to be gone is still there",
        mend="systemctl start gatepost-retention",
        see=here(see_retention),
    ),
    Look(
        name="audit",
        at="what the last check of the audit log found",
        why="an entry that was changed means that somebody had a reason to",
        mend="gatepost audit verify",
        see=of_ledger(see_audit),
    ),
)
