"""Puts a machine in the place of a lost one: `python3 -m gatepost.install --restore FOLDER`, as
docs/disaster.md has it.

The folder has what was kept elsewhere. That and what is in its newest backup is put where it
belongs before anything is made at random, and never over what is there; so all steps that come
afterwards find keys, settings, CA and ledger as their own.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gatepost.install.authority import STATE, USER
from gatepost.install.configuration import ETC, MASTER_KEY, PASSPHRASE
from gatepost.install.machine import Machine, has
from gatepost.install.placing import CURRENT, place, version_at
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, Step

LEDGERS, KEYS, KEY = "ledger", "keys.backup", "aes.key"
PASSED, REVOKED = "store.passphrase_file", "revoked.pem"
NEEDED = {
    f"{LEDGERS}/": "the newest backup, a folder that is named by its time",
    KEYS: "the backup of the keys",
    KEY: "the master key",
    PASSED: "what backups are sealed by",
}
"""The names that must be in the folder, with what they are. The newest list of what is revoked may
be there too."""
BACKUPS = "/var/backups/gatepost"
LIST = f"{STATE}/main_server/crl/{REVOKED}"
OURS = (ETC, STATE)
"""The folders that come out of a backup; what else it has is the operator's to bring back."""
MENTIONED = 5


@dataclass(frozen=True)
class Saved:
    folder: Path

    @property
    def backup(self) -> Path:
        """The newest whole backup: until it is whole, its name begins with a dot."""
        folders = (self.folder / LEDGERS).glob("[0-9]*Z")
        return max(folders, key=lambda one: one.name)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


def check(machine: Machine, saved: Saved) -> None:
    """Check, before anything is changed, that the machine is new and the folder complete."""
    if (release := version_at(machine, CURRENT)) is not None:
        raise Failure(
            f"Release {release} is installed here: --restore is for a machine without one.\n"
            "  If it was restored and broken off after that, go on without --restore."
        )
    has_backup = any((saved.folder / LEDGERS).glob("[0-9]*Z/manifest"))
    missing = [name for name in NEEDED if not (saved.folder / name).exists()]
    missing = sorted({*missing, *(() if has_backup else (f"{LEDGERS}/",))})
    if missing:
        words = "\n".join(f"  {saved.folder / one}: {NEEDED[one]}" for one in missing)
        raise Failure(f"Nothing was changed. What was kept elsewhere is missing:\n{words}")


def files(machine: Machine, release: Release, saved: Saved) -> list[Step]:
    """Return the steps that restore keys, backups, settings and the CA. They come before those that
    would make them."""
    kept = f"{BACKUPS}/{LEDGERS}/{saved.backup.name}"
    return [
        _kept(machine, saved, KEY, MASTER_KEY, "the master key"),
        _kept(machine, saved, PASSED, f"{ETC}/{PASSPHRASE}", "what backups are sealed by"),
        _given(machine, saved, KEYS, f"{BACKUPS}/keys/{KEYS}", "the backup of the keys"),
        Step(
            f"{kept}: the newest backup that was kept",
            machine.path(kept).is_dir,
            lambda: _bring(machine, saved.backup, machine.path(kept)),
        ),
        _once(
            machine,
            release,
            f"settings and the CA of {saved.backup.name}, below {' and '.join(OURS)}",
            "files",
            lambda: _unpack(machine, release, saved),
        ),
        *(
            [_given(machine, saved, REVOKED, LIST, "the newest list of what is revoked")]
            if (saved.folder / REVOKED).is_file()
            else []
        ),
    ]


def ledger(machine: Machine, release: Release, saved: Saved) -> list[Step]:
    """Return the steps that restore the ledger into the empty database, with the keys that open it.
    They come before tables are made."""
    gatepost, name = f"{place(release)}/bin/gatepost", saved.backup.name
    backup = ("backup", "restore", name, "--config", f"{ETC}/backup/config.yaml")
    keys = ("keys", "restore", f"{BACKUPS}/keys/{KEYS}")
    config = ("--config", f"{ETC}/main_server/config.yaml")
    return [
        _once(
            machine,
            release,
            f"the ledger of {name}",
            "ledger",
            lambda: machine.run(gatepost, *backup),
        ),
        _once(
            machine,
            release,
            "the keys of messages, but for those that were destroyed",
            "keys",
            lambda: machine.run(gatepost, *keys, *config),
        ),
    ]


def _once(
    machine: Machine, release: Release, what: str, name: str, do: Callable[[], object]
) -> Step:
    """Return a step that is done once. The mark is in the release: what is restored lives on, and
    soon differs from what the backup has."""
    mark = machine.path(f"{place(release)}/restored-{name}")

    def do_and_mark() -> None:
        do()
        machine.write(mark, b"", 0o644)

    return Step(what, mark.is_file, do_and_mark)


def _kept(machine: Machine, saved: Saved, name: str, file: str, what: str) -> Step:
    """Return the step that puts a kept file back for root alone."""
    target = machine.path(file)

    def put() -> None:
        if os.path.lexists(target):
            raise Failure(f"There is another {file}: whatever is sealed by it would be lost.")
        machine.write(target, saved.read(name), 0o400)

    return Step(f"{file}: {what}, as it was kept", lambda: has(target, saved.read(name)), put)


def _given(machine: Machine, saved: Saved, name: str, file: str, what: str) -> Step:
    """Return the step that puts a kept file back as the main server's, which will write it anew."""
    target = machine.path(file)

    def put() -> None:
        if not target.parent.is_dir():
            target.parent.mkdir(mode=0o755)
            _give(machine, target.parent)
        machine.write(target, saved.read(name), 0o600, USER)

    return Step(f"{file}: {what}", lambda: has(target, saved.read(name)), put)


def _bring(machine: Machine, source: Path, target: Path) -> None:
    draft = target.with_name(f".{target.name}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    for file in source.iterdir():
        shutil.copyfile(file, draft / file.name)
        (draft / file.name).chmod(0o600)
        _give(machine, draft / file.name)
    _give(machine, draft)
    draft.rename(target)


def _give(machine: Machine, path: Path) -> None:
    owner, group = machine.id_of("passwd", USER), machine.id_of("group", USER)
    os.chown(path, owner, group, follow_symlinks=False)


def _unpack(machine: Machine, release: Release, saved: Saved) -> None:
    with _opened(machine, release, saved) as found:
        tops = [found / top.lstrip("/") for top in OURS]
        sources = [one for top in tops for one in sorted(top.rglob("*"))]
        pairs = [(one, machine.path(one.relative_to(found))) for one in sources]
        if others := [str(there) for one, there in pairs if not _has_room(one, there)]:
            more = f" and {len(others) - MENTIONED} more" if len(others) > MENTIONED else ""
            raise Failure(
                f"A restore goes over nothing, and there is another {', '.join(others[:MENTIONED])}"
                f"{more}.\n  Move away what is there and isn't wanted, and run it again."
            )
        for one, there in pairs:
            _put(one, there)


@contextmanager
def _opened(machine: Machine, release: Release, saved: Saved) -> Iterator[Path]:
    """Yield the folder of the backup's files, with their owners and modes, for a moment and for
    root alone."""
    name = secrets.token_hex(8)
    place_, config = f"{STATE}/restored-{name}", f"/run/gatepost-install-{name}.yaml"
    text = (
        "environment: development # no database is asked, so no password of one is wanted\n"
        f"store:\n  folder: {BACKUPS}/{LEDGERS}\n  passphrase_file: {ETC}/{PASSPHRASE}\n"
    )
    words = ("restore", saved.backup.name, "--only-files", "--files-to", place_)
    try:
        machine.write(machine.path(config), text.encode(), 0o600)
        machine.run(f"{place(release)}/bin/gatepost", "backup", *words, "--config", config)
        yield machine.path(place_)
    finally:
        machine.path(config).unlink(missing_ok=True)
        shutil.rmtree(machine.path(place_), ignore_errors=True)


def _has_room(source: Path, target: Path) -> bool:
    """Return whether nothing is in the target's place, or the same as in the backup."""
    if source.is_dir() and not source.is_symlink():
        return target.is_dir() or not os.path.lexists(target)
    if source.is_symlink():
        same = target.is_symlink() and target.readlink() == source.readlink()
        return same or not os.path.lexists(target)
    return not os.path.lexists(target) or has(target, source.read_bytes())


def _put(source: Path, target: Path) -> None:
    """Put a file in its place, whole or not at all, with its owner and mode."""
    if os.path.lexists(target):
        return
    status = source.lstat()
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    if source.is_symlink():
        draft.symlink_to(source.readlink())
    elif source.is_dir():
        draft.mkdir(mode=0o700)
    else:
        shutil.copyfile(source, draft)
    os.chown(draft, status.st_uid, status.st_gid, follow_symlinks=False)
    if not source.is_symlink():
        draft.chmod(status.st_mode & 0o777)
    draft.rename(target)
