"""The work of `gatepost backup …`, and what it prints."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import duration, plural
from gatepost.config.settings import load
from gatepost.errors import ConfigurationError
from gatepost.owners import Owner, owner_of
from gatepost.safety import forbid_core_dumps
from main_server.backup import metrics
from main_server.backup.content import LEDGER, Backup, Opened, find, find_all
from main_server.backup.create import create
from main_server.backup.restore import check_target, drill, extract_files, restore
from main_server.backup.settings import BackupSettings
from main_server.backup.verify import verify
from main_server.commands.failures import in_words
from main_server.keys.backup.form import read_passphrase
from main_server.store.database import open_ledger

T = TypeVar("T")
AFTERWARDS = """\
What remains, in this order:
  put the newest published list of what is revoked where ca.crl_file says
  gatepost keys restore FILE
  start the main servers; the reconciler takes up what Redis still has
  set again the legal holds and days of since then; until it is confirmed retention is refused"""


def make(config: Path | None, *, json: bool) -> None:
    output, started = Output(json=json), time.monotonic()
    with _settings(config) as settings:
        try:
            with (
                open_ledger(settings.database, patient=True) as engine,
                _bar("writing the ledger", None, shown=not json) as tell,
            ):
                made = create(engine, settings, tell)
        except BaseException:
            metrics.tell_failure(settings.metrics_folder, _owner(settings))
            raise
        seconds = time.monotonic() - started
        metrics.tell_success(settings.metrics_folder, seconds, made.bytes, _owner(settings))
    words = f"{made.folder}: {_size(made)}, in {duration(seconds)}."
    _tell(output, _document(made) | {"seconds": round(seconds, 3)}, words)


def show_all(config: Path | None, *, json: bool) -> None:
    output = Output(json=json)
    with _settings(config) as settings:
        backups = find_all(_folder(settings))
        if not backups:
            find(settings.store.folder, None)
    for one in backups:
        _tell(output, _document(one), f"{one.name}  {_size(one):>10}")


def look_through(config: Path | None, name: str | None, *, json: bool) -> None:
    with _settings(config) as settings:
        opened = _open(settings, name)
        with _bar("reading", sum(opened.manifest.lengths.values()), shown=not json) as tell:
            verify(opened, tell)
    manifest = opened.manifest
    words = (
        f"{opened.backup.name} is whole: {plural(manifest.messages, 'message')}, audit log up to"
        f" {manifest.audit_head.split(':')[0]}, of release {manifest.release}."
    )
    _tell(Output(json=json), _document(opened.backup) | {"messages": manifest.messages}, words)


def bring_back(
    config: Path | None,
    name: str | None,
    files_to: Path | None,
    *,
    only_files: bool,
    json: bool,
) -> None:
    if only_files and files_to is None:
        raise Failure("usage", "--only-files needs --files-to FOLDER.")
    output = Output(json=json)
    with _settings(config) as settings:
        opened = _open(settings, name)
        document: dict[str, object] = {"backup": opened.backup.name}
        target = None if only_files else _wanted(settings.restore, "restore: where to, and as whom")
        if target is not None:
            with open_ledger(target, patient=True) as engine:
                check_target(engine, target, opened)
        if files_to is not None:
            files = extract_files(opened, files_to)
            document["files"] = len(files)
            if not json:
                output.say(f"{plural(len(files), 'file')} in {files_to}.")
        if target is not None:
            with (
                open_ledger(target, patient=True) as engine,
                _bar("restoring", _length(opened), shown=not json) as tell,
            ):
                done = restore(engine, target, opened, tell)
            document |= {"messages": done.messages, "seconds": round(done.seconds, 3)}
            if not json:
                output.say(_restored(done.messages, done.audit_entries, done.seconds))
                output.say(AFTERWARDS)
    if json:
        output.result(document)


def rehearse(config: Path | None, name: str | None, *, json: bool) -> None:
    with _settings(config) as settings:
        scratch = _wanted(settings.drill, "drill: a schema of its own, and who may make it")
        opened = _open(settings, name)
        with _bar("restoring, for trial", _length(opened), shown=not json) as tell:
            done = drill(scratch, opened, tell)
        metrics.tell_drill(settings.metrics_folder, done.seconds, _owner(settings))
    words = f"{opened.backup.name}: {_restored(done.messages, done.audit_entries, done.seconds)}"
    document = {"backup": opened.backup.name, "messages": done.messages}
    _tell(Output(json=json), document | {"seconds": round(done.seconds, 3)}, words)


@contextmanager
def _settings(config: Path | None) -> Iterator[BackupSettings]:
    forbid_core_dumps()
    with in_words("`gatepost backup list` shows what there is."):
        settings = load(BackupSettings, config)
        faults = settings.faults()
        if faults and settings.environment == "production":
            raise ConfigurationError("not in production:\n" + "\n".join(faults))
        yield settings


def _wanted(part: T | None, words: str) -> T:
    if part is None:
        raise ConfigurationError(f"the configuration lacks {words}")
    return part


def _folder(settings: BackupSettings) -> Path:
    folder = settings.store.folder
    if not folder.is_dir():
        raise ConfigurationError(f"store.folder: there is no {folder}")
    return folder


def _owner(settings: BackupSettings) -> Owner | None:
    """Return the owner of the backups, and of what is said of them."""
    folder = settings.store.folder
    return owner_of(folder) if folder.is_dir() else None


def _open(settings: BackupSettings, name: str | None) -> Opened:
    passphrase = read_passphrase(settings.store.passphrase_file)
    assert passphrase is not None
    return Opened(find(_folder(settings), name), passphrase)


def _length(opened: Opened) -> int:
    """Return the length of the ledger, as it is read."""
    return opened.manifest.lengths[LEDGER]


@contextmanager
def _bar(words: str, total: int | None, *, shown: bool) -> Iterator[Callable[[int], object]]:
    """Show a progress bar, on a terminal only; yield the function that advances it."""
    screen = Console(stderr=True)
    columns = TextColumn(words), BarColumn(), DownloadColumn(), TimeElapsedColumn()
    with Progress(*columns, console=screen, disable=not (shown and screen.is_terminal)) as bar:
        task = bar.add_task(words, total=total)
        yield lambda count: bar.advance(task, count)


def _document(backup: Backup) -> dict[str, object]:
    return {"backup": backup.name, "begun_at": backup.begun_at, "bytes": backup.bytes}


def _restored(messages: int, entries: int, seconds: float) -> str:
    counts = f"{plural(messages, 'message')}, an audit log of {entries} that hangs together"
    return f"{counts}; it took {duration(seconds)}."


def _size(backup: Backup) -> str:
    return f"{backup.bytes / 2**20:,.1f} MiB"


def _tell(output: Output, document: Mapping[str, object], words: str) -> None:
    if output.json:
        output.result(document)
    else:
        output.say(words)
