"""`./dev drill operate install`: a release on an empty Debian 12, and all that comes after it.

systemd runs in it as on any machine, with our units in their sandboxes. A message is delivered
after each change. What is looked at is what an operator sees: exit codes, words, files, units.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.drills.debian.machine import HOST, Machine
from tests.drills.debian.operator import CONFIG, SERVICES, Operator, demand
from tests.drills.debian.releases import make, packages
from tests.drills.debian.root import debian
from tests.drills.scenes import typed, units
from tests.drills.scenes.playing import Scene, by_name, play_on

FIRST, SECOND, THIRD = "0.1.0", "0.1.1", "0.2.0"
KEPT = ("/etc/gatepost", "/etc/app_secrets", "/var/lib/gatepost/main_server/ca")
A_TABLE = "CREATE TABLE of_a_drill (id INT PRIMARY KEY)"
LOOKS_AT_LEAST = 50
LEFT = {"clock", "disks", "redis-disk", "ledger-disk", "root-key", "backup-drill"}
"""What doctor may complain of: a disk and a clock of somebody else's, and what install says."""
WITHOUT_SPARK = ("gatepost-nightly.timer", "gatepost-retention.timer")
"""That these are off is so, and doctor says it: nothing is taken away without them."""


def is_refused_where_it_must_be(operator: Operator) -> str:
    """Before anything is changed."""
    said = operator.install("--yes", version=FIRST, well=False)
    demand("systemctl disable --now redis-server" in said, said)
    operator.machine.run("systemctl", "disable", "--now", "redis-server")
    asked = operator.machine.call(
        "setpriv", "--reuid=nobody", "python3", "-m", "gatepost.install", "--yes",
        environment={"PYTHONPATH": f"/packages/gatepost-{FIRST}-py3-none-any.whl"},
    )  # fmt: skip
    demand(asked.returncode == 1 and "Only root" in asked.stderr, asked.stderr)
    demand(operator.machine.call("ls", "/opt/gatepost").returncode != 0, "something was made")
    return "the package's own Redis, and who isn't root"


def is_shown_first(operator: Operator) -> str:
    before = operator.digest("/etc", "/usr/lib/systemd", "/usr/lib/sysusers.d", "/usr/local")
    said = operator.install("--dry-run", "--host", HOST, version=FIRST)
    demand("Nothing was changed." in said, said)
    after = operator.digest("/etc", "/usr/lib/systemd", "/usr/lib/sysusers.d", "/usr/local")
    demand(after == before, "a dry run changed files")
    return said.strip().splitlines()[-1]


def is_installed(operator: Operator) -> str:
    said = operator.install("--yes", "--host", HOST, version=FIRST)
    demand("docs/install.md" in said, said)
    for name in SERVICES:
        operator.machine.run("systemctl", "is-active", f"gatepost-{name}.service")
    operator.gatepost("domain", "add", "example.com", *CONFIG)
    operator.gatepost("cert", "issue", "client_001.example.com", *CONFIG, "--out", "/root/client")
    operator.send()
    link = operator.gatepost("user", "create", "admin", "--role", "super-admin", *CONFIG)
    demand(f"https://{HOST}:8080/" in link, link)
    return "and a message was delivered"


def again_changes_nothing(operator: Operator) -> str:
    before = operator.digest(*KEPT, "/etc/systemd/system", "/etc/mysql")
    started = _started(operator)
    said = operator.install("--yes", version=FIRST)
    demand("Nothing had to be changed." in said and "  done  " not in said, said)
    demand(operator.digest(*KEPT, "/etc/systemd/system", "/etc/mysql") == before, "files changed")
    demand(_started(operator) == started, "services were restarted")
    return "nothing was changed, nothing restarted"


def nothing_secret_shows(operator: Operator) -> str:
    """What is private is so for everybody but its service."""
    places = "/etc/gatepost /etc/app_secrets /var/lib/gatepost /var/backups/gatepost"
    script = f"find {places} -type f -readable"
    found = operator.machine.run(
        "setpriv", "--reuid=nobody", "--clear-groups", "sh", "-c", f"{script} 2>/dev/null || true"
    )
    demand(found.strip() == "", f"nobody can read {found}")
    return "nobody else reads anything of it"


def is_upgraded(operator: Operator) -> str:
    operator.install("install", f"/root/gatepost-{SECOND}-py3-none-any.whl", "--yes")
    demand(SECOND in operator.gatepost("--version"), "it is another release")
    _run_from(operator, SECOND)
    operator.send()
    return f"{FIRST} → {SECOND}"


def goes_back(operator: Operator) -> str:
    operator.install("install", "--back", "--yes")
    _run_from(operator, FIRST)
    operator.send()
    return f"{SECOND} → {FIRST}"


def is_upgraded_with_its_tables(operator: Operator) -> str:
    operator.install("install", f"/root/gatepost-{THIRD}-py3-none-any.whl", "--yes")
    _run_from(operator, THIRD)
    operator.send()
    said = operator.install("install", "--back", "--yes", well=False)
    demand("backup" in said and "of_a_drill" not in said, said)
    _run_from(operator, THIRD)
    return f"{FIRST} → {THIRD}; the way back is a backup, it says"


def a_release_that_cannot_work_stops_nothing(operator: Operator) -> str:
    """Settings that it would refuse: the running release goes on."""
    place = "/etc/gatepost/proxy/config.yaml"
    operator.machine.run("sh", "-c", f"cp -a {place} /root/kept; echo 'unknown: 1' >> {place}")
    started = _started(operator)
    said = operator.install(
        "install", f"/root/gatepost-{SECOND}-py3-none-any.whl", "--yes", well=False
    )
    demand("unknown" in said and "can't be done" in said, said)
    demand(_started(operator) == started, "services were restarted")
    operator.machine.run("sh", "-c", f"cp -a /root/kept {place}")
    operator.send()
    return "said which setting, and left the running one alone"


def a_full_disk_leaves_nothing_half(operator: Operator) -> str:
    """Seen before anything is changed; and where it is full half-way: of inodes, which nobody
    counts beforehand."""
    for size, words in (("size=30m", "MB left"), ("nr_inodes=2000", "No space left on device")):
        operator.machine.run("mount", "-t", "tmpfs", "-o", size, "tmpfs", "/opt")
        said = operator.install("--yes", "--host", HOST, version=FIRST, well=False)
        demand(words in said, said)
        left = operator.machine.run("find", "/opt", "-mindepth", "1", "-not", "-name", "releases")
        demand(left.split() in ([], ["/opt/gatepost"]), f"left: {left}")
        operator.machine.run("umount", "/opt")
    return "refused before it began, and where it was full half-way nothing of a release is left"


def its_jobs_run(operator: Operator) -> str:
    for name in ("backup", "retention", *(f"certificates@{s}" for s in ("main_server", "proxy"))):
        operator.machine.run("systemctl", "start", f"gatepost-{name}.service")
    return "backup and its trial, retention, certificates"


def doctor_finds_nothing_wrong(operator: Operator) -> str:
    """But for what is so on the machine of a drill, or is left to the operator."""
    done = operator.machine.call("gatepost", "doctor", "--json")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    found = [one for one in said if "look" in one]
    demand(len(found) > LOOKS_AT_LEAST, f"doctor: {done.stdout} {done.stderr}")
    wrong = [one for one in found if one["state"] != "ok" and one["look"] not in LEFT]
    bad = [one for one in wrong if not one["found"].startswith(WITHOUT_SPARK)]
    demand(not bad, f"doctor finds {bad}")
    return f"{len(found)} findings"


def comes_up_by_itself(operator: Operator) -> str:
    """As after the machine was off."""
    operator.machine.run("systemctl", "stop", "gatepost.target")
    operator.machine.run("systemctl", "start", "gatepost.target")
    operator.send()
    return "stopped and started by its target"


def is_taken_away(operator: Operator) -> str:
    kept = operator.digest(*KEPT)
    operator.install("uninstall", "--yes")
    left = operator.machine.run(
        "sh",
        "-c",
        "ls -d /opt/gatepost /etc/systemd/system/*gatepost*"
        " /etc/systemd/system/*/*gatepost* /usr/local/bin/gatepost"
        " 2>/dev/null || true",
    )
    demand(left.strip() == "", f"left: {left}")
    demand(operator.digest(*KEPT) == kept, "data or configuration changed")
    owners = operator.machine.run("sh", "-c", "stat -c %U /proc/[0-9]* 2>/dev/null || true")
    demand("gatepost" not in owners, "something runs still")
    return "data, configuration, keys and users stay"


def is_installed_again(operator: Operator) -> str:
    """Over what was kept: the same ledger, CA and client."""
    operator.install("--yes", "--host", HOST, version=THIRD)
    operator.send()
    return "with the same ledger, CA and client"


SCENES: tuple[Scene, ...] = (
    is_refused_where_it_must_be,
    is_shown_first,
    a_full_disk_leaves_nothing_half,
    is_installed,
    again_changes_nothing,
    nothing_secret_shows,
    its_jobs_run,
    doctor_finds_nothing_wrong,
    comes_up_by_itself,
    *units.SCENES,
    *typed.SCENES,
    is_upgraded,
    goes_back,
    a_release_that_cannot_work_stops_nothing,
    is_upgraded_with_its_tables,
    is_taken_away,
    is_installed_again,
)


def play(say: Callable[[str], None], _asked: argparse.Namespace) -> list[str]:
    """What went wrong."""
    root, folder_of_packages = debian(say), packages()
    with tempfile.TemporaryDirectory(prefix="gatepost-drill-") as name:
        wheels = Path(name) / "wheels"
        for version in (FIRST, SECOND, THIRD):
            make(version, wheels, adds=A_TABLE if version == THIRD else None)
        machine = Machine(root, Path(name))
        put(machine, wheels, folder_of_packages)
        return play_on(machine, by_name(SCENES), say)


def put(machine: Machine, wheels: Path, folder_of_packages: Path) -> None:
    machine.file("/etc/hosts").write_text(f"127.0.0.1 localhost {HOST}\n")
    for wheel in wheels.glob("*.whl"):
        machine.file(f"/root/{wheel.name}").write_bytes(wheel.read_bytes())
    for package in [*folder_of_packages.iterdir(), *wheels.glob(f"*-{FIRST}-*.whl")]:
        machine.file(f"/packages/{package.name}").write_bytes(package.read_bytes())


def _run_from(operator: Operator, version: str) -> None:
    """Each process of ours is of that release."""
    script = (
        "for p in $(systemctl show -P MainPID 'gatepost-*@1' gatepost-main-server gatepost-portal)"
    )
    script += "; do grep -o '/opt/gatepost/.*' /proc/$p/maps; done | sort -u"
    said = operator.machine.run("sh", "-c", script)
    wrong = [line for line in said.splitlines() if f"/releases/{version}/" not in line]
    demand(bool(said.strip()) and not wrong, f"they run {said}")


def _started(operator: Operator) -> str:
    units = [f"gatepost-{name}.service" for name in SERVICES]
    return operator.machine.run(
        "systemctl", "show", "-P", "ExecMainStartTimestampMonotonic", *units
    )
