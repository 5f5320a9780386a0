"""`./dev drill operate disaster`: an installed machine on which an upgrade breaks off, and which is
then lost with all that was on it; another one comes in its place, as docs/disaster.md says.

What was kept elsewhere is a folder on the host; a disk that is gone has nothing left to say.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.drills.debian.machine import HOST, Machine
from tests.drills.debian.operator import CONFIG, MESSAGE, SERVICES, Operator, demand
from tests.drills.debian.releases import make, packages
from tests.drills.debian.root import debian
from tests.drills.operating.install import (
    doctor_finds_nothing_wrong,
    is_installed,
    its_jobs_run,
    put,
)
from tests.drills.scenes.playing import Scene, by_name, play_on

FIRST, BROKEN = "0.1.0", "0.2.0"
MINE = "/etc/mysql/mariadb.conf.d/95-mine.cnf"
WITHIN = 30.0
RETENTION = ("--config", "/etc/gatepost/retention/config.yaml")
SAVED = (
    "/var/backups/gatepost/keys/keys.backup",
    "/etc/app_secrets/aes.key",
    "/etc/gatepost/backup/credentials/store.passphrase_file",
    "/var/lib/gatepost/main_server/crl/revoked.pem",
)
READ = """
from functools import partial
from pathlib import Path
from uuid import UUID
from sqlalchemy import select
from gatepost.wire.content import decode_content
from gatepost.config.settings import load
from main_server.store.database import open_ledger
from main_server.key_file import read_master_keys
from main_server.keys.master import MasterKeys
from main_server.keys.service import open_keyring
from main_server.settings import KeysOnly
from main_server.store.tables import messages as m
settings = load(KeysOnly, Path("/etc/gatepost/main_server/config.yaml"))
with open_ledger(settings.database) as engine:
    masters = MasterKeys(partial(read_master_keys, settings.keys.master_key_file))
    ring = open_keyring(engine, masters)
    columns = (m.c.message_id, m.c.client_id, m.c.domain, m.c.key_id, m.c.encrypted_body)
    with engine.connect() as connection:
        rows = connection.execute(select(*columns)).all()
    for one in rows:
        whose = UUID(bytes=one.message_id), one.client_id, one.domain
        content = ring.open_row(engine, *whose, one.key_id, one.encrypted_body)
        print(decode_content(content).message_body)
"""
"""What the main server would show of each message to who may see it."""


def is_there(operator: Operator) -> str:
    operator.machine.run("systemctl", "disable", "--now", "redis-server")
    is_installed(operator)
    out = ("--out", "/root/other")
    operator.gatepost("cert", "issue", "client_002.example.com", *CONFIG, *out)
    return "with two partners"


def a_setting_of_the_operators_is_theirs(operator: Operator) -> str:
    """An installation again neither breaks on it nor restarts MariaDB for it."""
    operator.machine.run("sh", "-c", f"printf '[mysqld]\\nmax_connections = 400\\n' > {MINE}")
    operator.machine.run("systemctl", "restart", "mariadb")
    started = _mariadb(operator)
    said = operator.install("--yes", version=FIRST)
    demand("Nothing had to be changed." in said, said)
    demand(_mariadb(operator) == started, "MariaDB was restarted")
    return "max_connections = 400, and MariaDB was left alone"


def an_upgrade_that_breaks_off_says_what_stands(operator: Operator) -> str:
    started = _mariadb(operator)
    wheel = f"/root/gatepost-{BROKEN}-py3-none-any.whl"
    said = operator.install("install", wheel, "--yes", well=False)
    demand("gatepost-main-server.service stands still" in said, said)
    demand("gatepost install --back" in said and f"Back to {FIRST}" in said, said)
    demand(_mariadb(operator) == started, "MariaDB was restarted")
    operator.install("install", "--back", "--yes")
    demand(FIRST in operator.gatepost("--version"), "it is another release")
    operator.send()
    return f"and the way back is to {FIRST}, which ran until then"


def is_kept_elsewhere(operator: Operator, saved: Path) -> str:
    """What comes after the backup isn't in it; who was revoked since is on the list."""
    machine = operator.machine
    machine.run("systemctl", "start", "gatepost-backup.service")
    before = machine.file(SAVED[-1]).read_bytes()
    target = ("client_002.example.com", "--reason", "keyCompromise", "--yes")
    operator.gatepost("cert", "revoke", *target, *CONFIG)
    deadline = time.monotonic() + WITHIN
    while machine.file(SAVED[-1]).read_bytes() == before:
        demand(time.monotonic() < deadline, "no new list is written")
        time.sleep(0.2)
    shutil.copytree(machine.file("/var/backups/gatepost/ledger"), saved / "ledger")
    for name in SAVED:
        shutil.copy(machine.file(name), saved)
    shutil.copytree(machine.file("/root/client"), saved / "client")
    shutil.copytree(machine.file("/root/other"), saved / "other")
    said = operator.install("--restore", "/root", "--yes", version=FIRST, well=False)
    demand("is installed here" in said, said)
    return "a backup, keys, and the list of who was revoked since"


def takes_its_place(operator: Operator) -> str:
    operator.machine.run("systemctl", "disable", "--now", "redis-server")
    saved = ("--restore", "/root/saved", "--host", HOST)
    shown = operator.install("--dry-run", *saved, version=FIRST)
    demand("Nothing was changed." in shown, shown)
    said = operator.install("--yes", *saved, version=FIRST)
    demand("docs/disaster.md" in said and "at random" not in _done(said), said)
    for name in SERVICES:
        operator.machine.run("systemctl", "is-active", f"gatepost-{name}.service")
    again = operator.install("--yes", version=FIRST)
    demand("Nothing had to be changed." in again, again)
    operator.gatepost("audit", "verify", *CONFIG)
    return "one command; again, nothing is changed"


def what_was_sent_can_be_read(operator: Operator) -> str:
    said = operator.machine.run("/opt/gatepost/current/bin/python", "-", text=READ).split()
    demand(len(said) > 1 and set(said) == {json.loads(MESSAGE)["message_body"]}, f"it says {said}")
    return f"{len(said)} messages"


def what_is_sent_is_delivered(operator: Operator) -> str:
    operator.machine.run("cp", "-r", "/root/saved/client", "/root/client")
    operator.send()
    return "by the certificate that the lost machine had issued"


def who_was_revoked_stays_so(operator: Operator) -> str:
    shown = operator.gatepost("cert", "list", *CONFIG, "--json")
    rows = [json.loads(line) for line in shown.splitlines()]
    states = {row["status"] for row in rows if "client_002" in json.dumps(row)}
    demand(states == {"revoked"}, f"it is {states}")
    place = "/root/saved/other/client_002"
    files = ("--ca", "/root/saved/other/ca.pem", "--cert", f"{place}.pem", "--key", f"{place}.key")
    url = ("--url", f"https://{HOST}:8001")
    done = operator.machine.call("gatepost", "message", "send", *url, *files, text=MESSAGE)
    demand(done.returncode != 0 and "revoked" in done.stderr, done.stdout + done.stderr)
    return "though the backup was made before"


def retention_waits_until_somebody_has_looked(operator: Operator) -> str:
    """What was put on legal hold since the backup isn't in it, and only people know."""
    refused = operator.machine.call("systemctl", "start", "gatepost-retention.service")
    demand(refused.returncode != 0, "retention takes away what a restored ledger says")
    shown = operator.gatepost("retention", "run", "--dry-run", "--json", *RETENTION)
    planned = json.loads(shown.splitlines()[-1])
    demand("restored from a backup" in str(planned["objections"]), f"it says {planned}")
    operator.gatepost("retention", "show", *CONFIG)
    operator.gatepost("retention", "run", "--confirm", planned["code"], *RETENTION)
    return "and is confirmed by its code"


def is_backed_up_and_well(operator: Operator) -> str:
    its_jobs_run(operator)
    owners = operator.machine.run(
        "sh", "-c", "stat -c '%U %n' /var/lib/gatepost/main_server/*/* /var/backups/gatepost/*/*"
    )
    wrong = [one for one in owners.splitlines() if not one.startswith("gatepost-main_server ")]
    demand(not wrong, f"theirs should be the main server's: {wrong}")
    return doctor_finds_nothing_wrong(operator)


AFTER: tuple[Scene, ...] = (
    takes_its_place,
    what_was_sent_can_be_read,
    what_is_sent_is_delivered,
    who_was_revoked_stays_so,
    retention_waits_until_somebody_has_looked,
    is_backed_up_and_well,
)


def play(say: Callable[[str], None], _asked: argparse.Namespace) -> list[str]:
    """What went wrong."""
    root, folder_of_packages = debian(say), packages()
    with tempfile.TemporaryDirectory(prefix="gatepost-drill-") as name:
        wheels, saved = Path(name) / "wheels", Path(name) / "saved"
        saved.mkdir()
        make(FIRST, wheels)
        make(BROKEN, wheels, adds="CREATE TABLE messages (id INT)")
        scenes: list[tuple[str, Scene]] = [
            ("is there", is_there),
            ("a setting of the operator's", a_setting_of_the_operators_is_theirs),
            ("an upgrade breaks off", an_upgrade_that_breaks_off_says_what_stands),
            ("is kept elsewhere", partial(is_kept_elsewhere, saved=saved)),
        ]
        for which, played in (("lost", scenes), ("new", by_name(AFTER))):
            machine = Machine(root, Path(name) / which)
            put(machine, wheels, folder_of_packages)
            shutil.copytree(saved, machine.file("/root/saved"))
            if wrong := play_on(machine, played, say):
                return wrong
    return []


def _mariadb(operator: Operator) -> str:
    return operator.machine.run("systemctl", "show", "-P", "InvocationID", "mariadb")


def _done(said: str) -> str:
    """What was made, but for passwords of what the backup's release didn't have yet."""
    done = [line for line in said.splitlines() if line.startswith("  done")]
    return "\n".join(done)
