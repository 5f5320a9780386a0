"""The units: what systemd itself makes of them, and that they agree with what they run."""

import ast
import re
import stat
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr

from analytics.settings import AnalyticsSettings, Reports
from gatepost.cli.failure import EXIT_OF_KIND
from gatepost.cli.main import run
from gatepost.config.settings import ServiceSettings, named
from gatepost.service import supervisor
from main_server.retention.settings import RetentionSettings
from main_server.settings import MainServerSettings
from portal.settings import PortalSettings
from proxy.draining import HEARD_SECONDS
from proxy.settings import ProxySettings
from tests.unit.systemd.conftest import Installed
from tests.unit.systemd.units import DAEMONS, OURS, SHIPPED, instance, said, services, timers
from worker.settings import WorkerSettings

EXPOSED_AT_MOST = 1.5
METRICS = "/var/lib/gatepost/metrics"
NIGHTLY = {
    "nightly": "analytics/config.yaml",
    "retention": "main_server/retention/config.yaml",
    "backup": "main_server/backup/config.yaml",
}
"""What runs at night, by its unit, and the sample of its settings."""
SETTINGS: dict[str, type[ServiceSettings]] = {
    "gatepost-main-server.service": MainServerSettings,
    "gatepost-portal.service": PortalSettings,
    "gatepost-proxy@.service": ProxySettings,
    "gatepost-worker@.service": WorkerSettings,
    "gatepost-nightly.service": AnalyticsSettings,
    "gatepost-retention.service": RetentionSettings,
}
SERVICES, DAEMON, OUR = (
    pytest.mark.parametrize("unit", units) for units in (services(), DAEMONS, OURS.values())
)


def test_systemd_finds_nothing_wrong(installed: Installed) -> None:
    units = [instance(unit, "proxy") for unit in (*services(), *timers())]
    assert installed.analyze("verify", "gatepost.target", *units) == ""


@SERVICES
@pytest.mark.parametrize("name", ["1", "main_server"])
def test_a_service_sees_and_may_do_little(installed: Installed, unit: str, name: str) -> None:
    report = installed.analyze("--offline=true", "security", instance(unit, name))
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", report)
    assert found is not None
    assert float(found[1]) <= EXPOSED_AT_MOST, report


@DAEMON
def test_it_comes_back_whatever_happens(unit: str) -> None:
    assert said(unit, "Restart") == ["always"]
    assert said(unit, "StartLimitIntervalSec") == ["0"], "it would be given up"
    assert said(unit, "Type") == ["notify"]
    assert said(unit, "PartOf") == ["gatepost.target"]
    assert said(unit, "WantedBy") == ["gatepost.target"]


@OUR
def test_its_times_are_those_of_its_supervisor(unit: str) -> None:
    (watchdog,) = map(float, said(unit, "WatchdogSec"))
    (stop,) = map(float, said(unit, "TimeoutStopSec"))
    replaced = supervisor.STUCK_AFTER_SECONDS + supervisor.LATE_AFTER_SECONDS
    assert watchdog > 2 * replaced, "first its own supervisor replaces what is stuck"
    assert stop > supervisor.GRACE_SECONDS + 5
    assert said(unit, "KillMode") == ["mixed"], "the supervisor ends its children"
    assert said(unit, "OOMPolicy") == ["continue"]
    for limit in ("MemoryMax", "TasksMax"):
        assert said(unit, limit)


@pytest.mark.parametrize(("module", "unit"), OURS.items())
def test_it_runs_its_module_with_its_file_as_its_user(module: str, unit: str) -> None:
    (command,) = said(unit, "ExecStart")
    assert f"-m {module} --config /etc/gatepost/{module}/config.yaml" in command
    assert ("--instance %i" in command) == ("@" in unit)
    assert said(unit, "User") == [f"gatepost-{module}"]
    assert said(unit, "StateDirectory") == [f"gatepost/{module}"]
    import_module(f"{module}.settings")


def test_what_drains_a_proxy_before_it_is_stopped_is_a_command() -> None:
    lines = (SHIPPED / "drain.conf").read_text().splitlines()
    (command,) = [one.partition("=-")[2] for one in lines if one.startswith("ExecStop=")]
    program, *words = command.replace("%i", "2").split()
    assert program == "/opt/gatepost/current/bin/gatepost"
    assert run([*words, "--help"]) == 0


def test_a_stop_lasts_long_enough_to_drain() -> None:
    """systemd gives ExecStop and what comes after it each the whole of the time."""
    grace = ProxySettings.model_fields["draining"].default.grace_seconds
    (longest,) = map(float, said("gatepost-proxy@.service", "TimeoutStopSec"))
    assert grace + 2 * HEARD_SECONDS < longest
    (raised,) = re.findall(r"of more than (\d+),", (SHIPPED / "drain.conf").read_text())
    assert int(raised) + 2 * HEARD_SECONDS <= longest


BY_HAND = {"replica.password"}
"""Where there is a replica, as docs/scaling.md says: what is missing keeps a unit from starting."""


@pytest.mark.parametrize("unit", SETTINGS)
def test_each_secret_of_its_settings_is_handed_to_it(unit: str) -> None:
    secrets = {name for name in named(SETTINGS[unit], SecretStr) if name.endswith("password")}
    secrets -= BY_HAND
    files = set(named(SETTINGS[unit], Path))
    given = {line.partition(":")[0] for line in said(unit, "LoadCredential")}
    assert given - files == secrets
    assert given <= files | secrets


def test_the_main_servers_master_key_is_handed_to_it() -> None:
    (unit,) = (unit for unit in SETTINGS if "main-server" in unit)
    assert "keys.master_key_file:/etc/app_secrets/aes.key" in said(unit, "LoadCredential")


def test_all_is_started_in_order() -> None:
    main = "gatepost-main-server.service"
    for unit in OURS.values():
        after = " ".join(said(unit, "After")).split()
        assert (main in after) == (unit != main)
        assert ("gatepost-redis.service" in after) == (unit != "gatepost-portal.service")


def test_the_nightly_jobs_follow_each_other() -> None:
    """By their times, and by their order where one takes longer. Locks do the rest."""
    jobs = [f"gatepost-{name}" for name in ("nightly", "retention", "backup")]
    times = [said(f"{job}.timer", "OnCalendar")[0] for job in jobs]
    assert times == sorted(times)
    for number, job in enumerate(jobs):
        after = " ".join(said(f"{job}.service", "After")).split()
        assert [f"{one}.service" in after for one in jobs] == [n < number for n in range(3)]


@pytest.mark.parametrize("job", ["nightly", "backup"])
def test_what_keeps_failing_is_given_up_for_that_night_alone(job: str) -> None:
    """Each try leaves something on a disk."""
    unit = f"gatepost-{job}.service"
    (limit,) = said(unit, "StartLimitIntervalSec")
    (most,) = said(unit, "StartLimitBurst")
    (pause,) = said(unit, "RestartSec")
    hours, minutes = int(limit.removesuffix("h")), int(pause.removesuffix("min"))
    assert int(most) * minutes < hours * 60, "it would never be reached"
    assert hours < 23, "it would be refused the next night"


def test_a_wrong_configuration_is_not_tried_again() -> None:
    found = said("gatepost-nightly.service", "RestartPreventExitStatus")
    assert found == [str(EXIT_OF_KIND["usage"])]


def test_pages_are_where_the_unit_may_write() -> None:
    """In the sample of its settings they are not asked for; nothing else has to be changed."""
    (state,) = said("gatepost-nightly.service", "StateDirectory")
    sample = (SHIPPED.parent / "analytics" / "config.yaml").read_text()
    told = yaml.safe_load(sample.replace("# reports:", "reports:"))["reports"]
    folder = Reports.model_validate(told).folder
    assert folder is not None
    assert folder.is_relative_to(f"/var/lib/{state}")
    document = (SHIPPED.parent / "docs" / "pipeline.md").read_text()
    assert f"reports: {{folder: {folder}," in document


def test_the_backup_never_sees_the_master_key() -> None:
    unit = "gatepost-backup.service"
    assert said(unit, "CapabilityBoundingSet") == ["CAP_DAC_READ_SEARCH"]
    assert not any("app_secrets" in line for line in said(unit, "LoadCredential"))
    sandbox = (SHIPPED / "gatepost-.service.d" / "10-sandbox.conf").read_text()
    assert "InaccessiblePaths=-/etc/app_secrets" in sandbox


@pytest.mark.parametrize("unit", timers())
def test_a_timer_has_a_service_and_catches_up(unit: str) -> None:
    assert unit.replace(".timer", ".service") in services()
    assert said(unit, "Persistent") == ["yes"]
    for calendar in said(unit, "OnCalendar"):
        assert calendar.endswith(" UTC")


def test_systemd_reads_the_timers_calendars(installed: Installed) -> None:
    for unit in timers():
        for calendar in said(unit, "OnCalendar"):
            shown = installed.systemd.run("analyze", "--no-pager", "calendar", calendar)
            assert "Next elapse" in shown


def test_each_service_has_a_user_and_folders_of_its_own(installed: Installed) -> None:
    installed.systemd.run("sysusers", f"--root={installed.root}", "gatepost.conf")
    passwd = (installed.root / "etc" / "passwd").read_text().splitlines()
    known = {line.split(":")[0]: line.split(":")[-1] for line in passwd}
    used = {user for unit in services() for user in said(unit, "User")}
    assert used - {"gatepost-%i"} <= known.keys()
    others = len({"certificates@", "retention", "backup"})  # these run as whose things they handle
    assert len(used - {"gatepost-%i"}) == len(services()) - others, "no two have the same"
    assert set(known.values()) == {"/usr/sbin/nologin"}
    assert "gatepost-main_server" in known
    lines = (SHIPPED / "gatepost.tmpfiles").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    modes = {row[1]: row[2] for row in rows}
    groups = (installed.root / "etc" / "group").read_text().splitlines()
    assert {row[3] for row in rows} <= {"root", *known}
    assert {row[4] for row in rows} <= {"root", *(line.split(":")[0] for line in groups)}
    for unit in services():
        for folder in said(unit, "StateDirectory"):
            assert folder.endswith("%i") or modes[f"/var/lib/{folder}"] == "0700"
        for line in said(unit, "LoadCredential"):
            assert modes[str(Path(line.partition(":")[2]).parent)] in ("0700", "0750")


def test_what_becomes_a_credential_is_roots_alone() -> None:
    for line in (SHIPPED / "gatepost.tmpfiles").read_text().splitlines():
        if "credentials" in line.split("#")[0] or "app_secrets" in line:
            assert line.split()[2:5] == ["0700", "root", "root"]


def test_nothing_of_ours_looks_where_it_is_not_let() -> None:
    """ProcSubset=pid: of /proc there is what concerns processes. Doctor is no unit's: people run
    it, who see more."""
    assert "ProcSubset=pid" in (SHIPPED / "gatepost-.service.d" / "10-sandbox.conf").read_text()
    for module in ("gatepost", *OURS):
        for file in Path(SHIPPED.parent, module).rglob("*.py"):
            if "doctor" in file.parts[len(SHIPPED.parent.parts) :]:
                continue
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Constant) and str(node.value).startswith("/proc"):
                    of_a_process = node.value == "/proc/" or "/proc/self" in str(node.value)
                    assert of_a_process, file


def test_no_unit_can_be_written_by_others() -> None:
    for file in SHIPPED.rglob("*"):
        assert not file.stat().st_mode & stat.S_IWOTH


def test_what_runs_at_night_may_write_its_metrics_where_it_is_told_to() -> None:
    for job, sample in NIGHTLY.items():
        told = re.findall(r"metrics_folder: (\S+)", (SHIPPED.parent / sample).read_text())
        assert told == [METRICS]
        assert f"-{METRICS}" in " ".join(said(f"gatepost-{job}.service", "ReadWritePaths")).split()
    lines = (SHIPPED / "gatepost.tmpfiles").read_text().splitlines()
    (made,) = [line.split() for line in lines if METRICS in line]
    assert made[2:5] == ["1775", "root", "gatepost-metrics"], "the node exporter is somebody else"
    members = (SHIPPED / "gatepost.sysusers").read_text()
    for job in NIGHTLY:
        (user,) = said(f"gatepost-{job}.service", "User")
        assert re.search(rf"^m {user} +gatepost-metrics$", members, re.MULTILINE)
