"""The units under a real systemd: a second proxy and second workers, a stop that drains, stops
within their time, what stands still, and room for Redis.

Begins and ends with all services running; in the end the second ones are there as well.
"""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infra.dev.paths import ROOT
from tests.drills.debian.operator import Operator, demand

PYTHON = "/opt/gatepost/current/bin/python"
DRAINING = "/etc/systemd/system/gatepost-proxy@.service.d/40-drain.conf"
CALLERS = Path(__file__).parent / "on_machine" / "callers.py"
OURS = ("gatepost-main-server", "gatepost-worker@1", "gatepost-proxy@1", "gatepost-portal")
SECOND = ("gatepost-proxy@2", "gatepost-worker@2")
READY = "http://127.0.0.1:{}/readyz"
AGAIN_WITHIN = 150.0
"""The watchdog's minute, and a start."""


def a_second_proxy_and_workers_run_beside_the_first(operator: Operator) -> str:
    """Each can do without the other."""
    run = operator.machine.run
    run("systemctl", "enable", "--now", *SECOND)
    for port in (8001, 8011):
        operator.send(port)
    for port in (9011, 9110):
        run(PYTHON, "-c", f"import httpx; httpx.get('{READY.format(port)}').raise_for_status()")
    run("systemctl", "stop", "gatepost-worker@1", "gatepost-proxy@1")
    operator.send(8011)
    run("systemctl", "start", "gatepost-worker@1", "gatepost-proxy@1")
    run("systemctl", "stop", "gatepost-worker@2")
    operator.send(8011)
    run("systemctl", "start", "gatepost-worker@2")
    return "on 8011, their metrics on 9011 and 9110; each took over from the other"


def a_stop_drains_first(operator: Operator) -> str:
    """With drain.conf, put there as docs/operating.md says."""
    run = operator.machine.run
    _, _, section = (ROOT / "docs" / "operating.md").read_text().partition("## Drain a proxy\n")
    lines = re.findall(
        r"^    (cd /opt.*)\n    (install .*)\n    (systemctl daemon-.*)$", section, re.M
    )
    run("sh", "-ec", "\n".join(lines[0]))
    seen = _stop_and_start(operator, "gatepost-proxy@1")
    said, outcomes = seen["said"]["8001"], seen["outcomes"]
    demand(said[:2] == ["ready", "draining"], f"it said {said}")
    demand(set(outcomes) <= {"8001 202", "8011 202"}, f"clients heard {outcomes}")
    demand(outcomes.get("8011 202", 0) > 0, "nobody was sent to the second")
    demand(seen["undelivered"] == 0, f"{seen['undelivered']} are not delivered")
    run("rm", DRAINING)
    run("systemctl", "daemon-reload")
    return f"{sum(outcomes.values())} posts, each delivered; it took {seen['seconds'][0]:.1f} s"


def each_stops_within_its_time(operator: Operator) -> str:
    """While clients send; and nothing has to be killed."""
    run, took = operator.machine.run, []
    for unit in OURS:
        seen = _stop_and_start(operator, unit)
        bad = {one for one in seen["outcomes"] if not one.endswith(" 202")}
        demand(not bad and not seen["undelivered"], f"{unit}: {seen}")
        longest = _seconds(run("systemctl", "show", "-P", "TimeoutStopUSec", unit))
        demand(seen["seconds"][0] < longest, f"{unit}: {seen}")
        took.append(f"{unit.removeprefix('gatepost-')} {seen['seconds'][0]:.1f} s")
    said = run("journalctl", "--no-pager", "-o", "cat", *(f"--unit={unit}" for unit in OURS))
    demand("SIGKILL" not in said and "process.killed" not in said, "something was killed")
    return ", ".join(took)


def what_stands_still_is_started_again(operator: Operator) -> str:
    """Stopped by a signal a process says nothing any more, as one whose loop is stuck."""
    run, before = operator.machine.run, _restarts(operator)
    run("systemctl", "kill", "-s", "STOP", "--kill-whom=main", *OURS)
    begun, again = time.monotonic(), [count + 1 for count in before]
    while not (_restarts(operator) == again and _are_active(operator)):
        waited = time.monotonic() - begun
        demand(waited < AGAIN_WITHIN, f"after {waited:.0f} s: {_restarts(operator)}")
        time.sleep(0.5)
    seconds = time.monotonic() - begun
    said = run("journalctl", "--no-pager", "-o", "cat", *(f"--unit={unit}" for unit in OURS))
    demand(said.count("Watchdog timeout") >= len(OURS), "it was not the watchdog")
    operator.send()
    return f"all four, after {seconds:.0f} s"


def a_night_follows_a_backup_by_hand(operator: Operator) -> str:
    """What root has made the main server's user doesn't stumble over."""
    by_hand = ("backup", "create", "--config", "/etc/gatepost/backup/config.yaml")
    operator.gatepost(*by_hand)
    operator.machine.run("systemctl", "start", "gatepost-backup")
    words = ("journalctl", "--no-pager", "-o", "cat", "--since=-10min", "--unit=gatepost-backup")
    said = operator.machine.run(*words)
    demand("can't be" not in said, said)
    operator.gatepost(*by_hand)
    return "and the other way round"


def redis_is_given_room_as_the_runbook_says(operator: Operator) -> str:
    """Without a restart."""
    run = operator.machine.run
    _, _, section = (ROOT / "docs" / "runbook.md").read_text().partition("### GatepostRedisFull\n")
    unit, cli = re.findall(r"`(systemctl set-property .*?|redis-cli .*? SET .*?)`", section)[:2]
    started = _main_of(operator, "gatepost-redis")
    run(*unit.split())
    password = run("cat", "/etc/gatepost/redis/credentials/operator.password").strip()
    said = run(*cli.split(), text=f"{password}\n")
    demand(said.strip().endswith("OK"), said)
    demand(_main_of(operator, "gatepost-redis") == started, "Redis was restarted")
    most = int(run("systemctl", "show", "-P", "MemoryMax", "gatepost-redis"))
    run("rm", "-r", "/etc/systemd/system.control/gatepost-redis.service.d")
    run("systemctl", "daemon-reload")
    return f"its unit may take {most >> 30} GiB"


def _stop_and_start(operator: Operator, unit: str) -> dict[str, Any]:
    """While clients send."""
    commands = ("--", "systemctl", "stop", unit, "--", "systemctl", "start", unit)
    said = operator.machine.run(PYTHON, "-", "8001", "8011", *commands, text=CALLERS.read_text())
    seen: dict[str, Any] = json.loads(said.splitlines()[-1])
    return seen


def _restarts(operator: Operator) -> list[int]:
    said = operator.machine.run("systemctl", "show", "-P", "NRestarts", *OURS)
    return [int(count) for count in said.split()]


def _are_active(operator: Operator) -> bool:
    return operator.machine.call("systemctl", "is-active", "--quiet", *OURS).returncode == 0


def _main_of(operator: Operator, unit: str) -> str:
    return operator.machine.run("systemctl", "show", "-P", "MainPID", unit).strip()


def _seconds(said: str) -> int:
    """Of systemd's `1min 30s`."""
    parts = re.findall(r"(\d+)(min|s)", said)
    return sum(int(number) * (60 if unit == "min" else 1) for number, unit in parts)


SCENES: tuple[Callable[[Operator], str], ...] = (
    redis_is_given_room_as_the_runbook_says,
    a_second_proxy_and_workers_run_beside_the_first,
    a_stop_drains_first,
    each_stops_within_its_time,
    what_stands_still_is_started_again,
    a_night_follows_a_backup_by_hand,
)
