"""The archive for support: what doctor found, and what support would ask for next, without secrets.

Each file comes from a list of what may be in it (`scrubbing`). Then all of it is searched for every
secret of this machine, and a file that has one is left out, which is said.
"""

import io
import json
import platform
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from gatepost import __version__
from gatepost.cli.configuring import shown
from gatepost.cli.doctor import scrubbing, telling
from gatepost.cli.doctor.looks.programs import ask, instances
from gatepost.cli.doctor.running import Seen
from gatepost.cli.doctor.secrets import forms, secrets_of
from gatepost.cli.doctor.site import Part, Site
from gatepost.cli.failure import Failure
from gatepost.cli.output import plain
from gatepost.config.settings import leaves
from gatepost.errors import ConfigurationError
from gatepost.whole_file import create_file

TAIL_BYTES, TAIL_LINES = 2**20, 2_000
JOURNAL_SECONDS = 20.0
FOLDER = "gatepost-doctor"


def check_place(file: Path) -> None:
    """Refuse a place where the archive couldn't be written, before anything is looked at."""
    if file.exists() or file.is_symlink():
        raise Failure("usage", f"{file} is there already.", "Name another file.")
    if not file.absolute().parent.is_dir():
        raise Failure("usage", f"There is no folder {file.absolute().parent}.")


def write_archive(file: Path, site: Site, seen: Sequence[Seen]) -> None:
    members = without_secrets(dict(collect(site, seen)), secrets_of(site))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(f"{FOLDER}/{name}")
            member.size, member.mode, member.mtime = len(data), 0o600, int(time.time())
            archive.addfile(member, io.BytesIO(data))
    try:
        create_file(file, packed.getvalue())
    except ConfigurationError as error:
        raise Failure("usage", f"{error.detail}.") from None


def without_secrets(members: Mapping[str, bytes], secrets: set[bytes]) -> dict[str, bytes]:
    sought = {form for secret in secrets for form in forms(secret) if form}
    bad = [name for name, data in members.items() if any(form in data for form in sought)]
    kept = {name: data for name, data in members.items() if name not in bad}
    return kept | {"left_out.json": _json({"a secret was in": bad})} if bad else kept


def collect(site: Site, seen: Sequence[Seen]) -> Iterator[tuple[str, bytes]]:
    yield "versions.json", _json(versions())
    findings = [telling.document(one) for one in seen]
    scrubbed = [one | {"found": scrubbing.words(one["found"])} for one in findings]
    yield "findings.json", _json({"findings": scrubbed, **telling.summary(site, seen)})
    settings = {part.name: _settings(part) for part in site.parts.values()}
    yield "settings.json", _json(settings)
    if site.systemd is not None:
        units = site.systemd.units.items()
        scrubbed_units = {
            name: {k: scrubbing.words(v) for k, v in unit.items()} for name, unit in units
        }
        yield "units.json", _json(scrubbed_units)
    for part in site.parts.values():
        for name, configured in instances(site, part):
            assert part.service is not None
            said = ask(part.service.ops(configured), "/metrics") or b""
            lines = scrubbing.metrics_of(said.decode(errors="replace"))
            yield f"metrics/{name}.txt", "\n".join(lines).encode()
            yield f"logs/{name}.json", _json_lines(scrubbing.events_of(_log(site, name)))


def versions() -> dict[str, Any]:
    libraries = {one.metadata["Name"]: one.version for one in distributions()}
    return {
        "gatepost": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": dict(sorted(libraries.items())),
    }


def _settings(part: Part) -> Any:
    if part.settings is None:
        return {"trouble": scrubbing.words(part.trouble or "")}
    origins = part.origins or {}
    return {
        name: {
            "value": plain(scrubbing.setting(name, shown(part.settings, name))),
            "from": origins.get(name, "default"),
        }
        for name, _ in leaves(type(part.settings))
    }


def _log(site: Site, name: str) -> list[str]:
    if site.checkout:
        return _tail(site.folder.parent / "log" / f"{name}.log")
    unit = f"gatepost-{name.replace('_', '-')}"
    command = ["journalctl", "--unit", unit, "--output=cat", "--no-pager", f"--lines={TAIL_LINES}"]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=JOURNAL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return ran.stdout.decode(errors="replace").splitlines()


def _tail(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - TAIL_BYTES))
            lines = stream.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    return lines[-TAIL_LINES:]


def _json_lines(events: scrubbing.Events) -> bytes:
    lines = [json.dumps(one) for one in events.kept]
    return "\n".join([*lines, json.dumps({"lines that are no events": events.others})]).encode()


def _json(document: object) -> bytes:
    return json.dumps(document, indent=1, default=str).encode()
