"""Looks at whether the services run, are ready and hold their ports, and leave no core dumps."""

import http.client
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gatepost.cli.doctor.look import Finding, Look, fine, unknown, warning, wrong
from gatepost.cli.doctor.processes import core_limit, holders, listening, of_service
from gatepost.cli.doctor.site import TEMPLATES, Part, Site
from gatepost.config.settings import Listen, ServiceSettings
from gatepost.decoding import Undecodable, decode_json

SECONDS = 3.0
PROCESSES = "processes"
"""The check that says how many processes there are, which is no trouble."""
CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")
OBEY_THE_LIMIT = ("systemd-coredump", "apport")
"""Programs that the kernel hands dumps to, and that keep none of processes that may have none."""


def instances(site: Site, part: Part) -> Iterator[tuple[str, ServiceSettings]]:
    """Yield the instances of a service that are to run here, each with its name and settings. If
    systemd says that none is wanted, there is none."""
    if part.service is None or part.settings is None:
        return
    if site.systemd is None or not site.systemd.units:
        yield part.name, part.settings
    elif part.name in TEMPLATES:
        for number in site.systemd.instances(part.name):
            yield f"{part.name}@{number}", part.settings.of_instance(number)
    elif site.systemd.wants(part.name):
        yield part.name, part.settings


def see_services(site: Site) -> Iterator[Finding]:
    for part in site.parts.values():
        for name, settings in instances(site, part):
            assert part.service is not None
            answer = ask(part.service.ops(settings), "/readyz")
            stands_still = answer is None and bool(of_service(part.name, part.file))
            yield judge_readiness(name, answer, site.start(name, again=stands_still))


def judge_readiness(name: str, answer: bytes | None, start: str) -> Finding:
    if answer is None:
        return wrong(f"{name} does not answer on its port for operators", start)
    try:
        checks = {what: (one["ok"], one["detail"]) for what, one in _checks(answer).items()}
    except (Undecodable, ValueError, KeyError, TypeError, AttributeError):
        return wrong(f"{name}: what answers on its port for operators is something else", None)
    missing = {what: words for what, (ok, words) in checks.items() if not ok}
    said = {what: words for what, (ok, words) in checks.items() if words and what != PROCESSES}
    words = "; ".join(f"{what}: {why or 'no'}" for what, why in (missing or said).items())
    if missing:
        return wrong(f"{name} is not ready: {words}")
    return warning(f"{name} is ready, but {words}") if said else fine(f"{name} is ready")


def _checks(answer: bytes) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = decode_json(answer, dict[str, Any])["checks"]
    return found


def ask(ops: Listen, path: str) -> bytes | None:
    """Return what a service says on its port for operators, whatever the status; None if nobody
    answers.

    One that listens on all addresses is asked on this machine's own.
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(ops.host, ops.host)
    connection = http.client.HTTPConnection(host, ops.port, timeout=SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def see_ports(site: Site) -> Iterator[Finding]:
    for part in site.parts.values():
        for name, settings in instances(site, part):
            assert part.service is not None
            ours = {one.pid for one in of_service(part.name, part.file)}
            for listen in (*part.service.ports(settings), part.service.ops(settings)):
                yield judge_port(name, listen.port, ours)


def judge_port(name: str, port: int, ours: set[int]) -> Finding:
    """Judge who holds the port. A port that nobody holds is free for its service; whether that
    runs, another look says."""
    show = f"ss -ltnp 'sport = :{port}'"
    sockets = listening(port)
    if not sockets:
        return fine(f"{name}: {port} is free")
    found = holders(sockets)
    if not found:
        return unknown(f"{name}: who holds {port} can't be seen", f"sudo {show}")
    if others := [one for one in found if one.pid not in ours]:
        who = ", ".join(sorted({f"{one.name} (process {one.pid})" for one in others}))
        return wrong(f"{name}: {port} is held by {who}", show)
    return fine(f"{name}: {port} is its own")


def see_units(site: Site) -> Iterator[Finding]:
    if site.systemd is None:
        return
    for name, unit in site.systemd.units.items():
        yield from judge_unit(name, unit)


def judge_unit(name: str, unit: Mapping[str, str]) -> Iterator[Finding]:
    if unit["ActiveState"] == "failed":
        yield wrong(f"{name} has failed: {unit['Result']}", f"systemctl status {name}")
    elif name.endswith(".timer") and unit["UnitFileState"] == "disabled":
        yield warning(f"{name} is not enabled", f"systemctl enable --now {name}")
    elif unit["UnitFileState"] == "enabled" and unit["ActiveState"] == "inactive":
        if not name.endswith(".target"):
            yield wrong(f"{name} is enabled, and does not run", f"systemctl start {name}")
    elif unit["ActiveState"] == "active":
        yield fine(f"{name} is active")


def see_core_dumps(site: Site) -> Iterator[Finding]:
    for part in site.parts.values():
        if part.service is None:
            continue
        limits = {one.pid: core_limit(one.pid) for one in of_service(part.name, part.file)}
        if open_ := sorted(pid for pid, limit in limits.items() if limit not in ("0", None)):
            words = f"{part.name}: process {open_[0]} may leave a core dump"
            yield wrong(words, site.start(part.name, again=True))
        elif limits:
            yield fine(f"{part.name}: no process may leave one")
    if site.production:
        yield judge_core_pattern(CORE_PATTERN.read_text().strip())


def judge_core_pattern(pattern: str) -> Finding:
    """Judge where dumps go: the kernel hands them to a program whatever the limit is (core(5))."""
    program = pattern.removeprefix("|").split(" ")[0]
    if not pattern.startswith("|") or Path(program).name in OBEY_THE_LIMIT:
        return fine("the kernel keeps to the limit of a process")
    return warning(f"the kernel hands dumps to {program}, whatever a process allows")


LOOKS = (
    Look(
        name="services",
        at="whether each service of this machine answers, and what its `/readyz` says",
        why="it is what the service itself knows of its troubles",
        mend="gatepost doctor services",
        see=see_services,
    ),
    Look(
        name="ports",
        at="who holds each service's ports",
        why="a service whose port somebody else holds doesn't start",
        mend="ss -ltnp",
        see=see_ports,
    ),
    Look(
        name="units",
        at="units of systemd that have failed, and timers that are off",
        why="what runs at night fails at night, and is seen by nobody",
        mend="systemctl --failed",
        see=see_units,
    ),
    Look(
        name="core-dumps",
        at="whether a process could leave a core dump, and to whom the kernel hands them",
        why="a core dump holds what was being handled, readable",
        mend="sysctl -w kernel.core_pattern=core",
        see=see_core_dumps,
    ),
)
