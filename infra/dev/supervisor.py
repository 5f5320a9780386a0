"""Runs a stack: starts Redis, MariaDB and the services, keeps them running, stops them in turn.

One process, until it is told to stop; what it starts ends with it, however it ends. `./dev up` is
this in the foreground, `./dev up --detach` and the tests have it in the background (stack.py).
"""

import argparse
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from infra.dev.configuration import write_configuration
from infra.dev.engines.find import clean_environment
from infra.dev.engines.server import Server
from infra.dev.first_admin import ADMIN
from infra.dev.first_message import tell_first_message
from infra.dev.follow import Follower
from infra.dev.keeper import Keeper
from infra.dev.lines import colours_wanted, render
from infra.dev.locking import take, the_only_one
from infra.dev.place import ENGINES, SERVICES, Place
from infra.dev.ports import HOST, Ports
from infra.dev.private import private_folder, write_private
from infra.dev.services import service, wait_until_ready
from infra.dev.steps import Failure, give_up, run, step
from infra.dev.stores import Stores, choose_stores
from infra.dev.welcome import welcome

STOP_SECONDS = 30.0
TURN_SECONDS = 0.1
LARGEST_LOG = 20_000_000  # bytes; a larger one is put aside at the next start


class Stopped(BaseException):
    """We are to stop: Ctrl-C, `./dev down`, a closed terminal, the end of our parent."""


class Supervisor:
    """A stack's supervisor; `in_foreground`, at a terminal, it shows what the services say."""

    def __init__(self, place: Place, ports: Ports, *, in_foreground: bool) -> None:
        self._place = place
        self._ports = ports
        self._in_foreground = in_foreground
        self._keeper = Keeper(say)

    def run(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _stop)
        with the_only_one(self._place.supervisor_lock):
            try:
                self._place.status_file.unlink(missing_ok=True)
                self._start()
                self._keep()
            except Stopped:
                print(flush=True)
            finally:
                self._stop()

    def _start(self) -> None:
        _wait_for_former(self._place)
        self._ports.demand_free()
        stores = choose_stores(self._place)
        if stores.servers:
            self._start_servers(stores.servers)
        write_configuration(self._place, self._ports, stores)
        with step("tables, certificates, first client and admin"):
            seed(self._place)
        with step("main server, workers, proxy, portal"):
            self._start_services()
        status = self._status(stores)
        print(tell_first_message(status), flush=True)
        print(welcome(status, "Ctrl-C" if self._in_foreground else "./dev down"), flush=True)
        self._publish(status)

    def _start_servers(self, servers: list[Server]) -> None:
        with step(" and ".join(server.child.name for server in servers)):
            for server in servers:
                self._keeper.launch(server.child, server.launch)
            for server in servers:
                server.wait()

    def _start_services(self) -> None:
        ops = self._ports.ops()
        for name in SERVICES:
            child = service(self._place, name)
            self._keeper.launch(child, child.start)
        for child in self._keeper.children():
            if child.name in ops:
                wait_until_ready(child, ops[child.name])

    def _keep(self) -> None:
        """Start again what has ended, and show what the services say, until we are stopped."""
        logs = {name: self._place.log(name) for name in SERVICES} if self._in_foreground else {}
        follower, colour = Follower(logs, from_end=True), colours_wanted()
        while True:
            if self._keeper.look_after():
                self._publish(json.loads(self._place.status_file.read_text()))
            for line in follower.new_lines():
                print(render(line.name, line.text, colour), flush=True)
            time.sleep(TURN_SECONDS)

    def _stop(self) -> None:
        """Stop the children in the reverse of the order in which they were started; at once, if
        told again."""
        self._place.status_file.unlink(missing_ok=True)
        children = self._keeper.children()[::-1]
        try:
            for child in children:
                with step(f"stopping {child.name}"):
                    child.stop(STOP_SECONDS)
        except Stopped:
            for child in children:
                child.kill()

    def _status(self, stores: Stores) -> dict[str, Any]:
        """Return what `./dev status --json` prints; its keys are promised to scripts."""
        at, pki = self._ports, self._place.pki
        return {
            "proxy": f"https://{HOST}:{at.proxy}",
            "main_server": f"https://{HOST}:{at.main_server}",
            "pki": f"http://{HOST}:{at.pki}",
            "portal": f"https://{HOST}:{at.portal}",
            "redis": stores.redis("operator"),
            "database": stores.database("gatepost_migrate"),
            "metrics": {name: [f"http://{HOST}:{port}/metrics"] for name, port in at.ops().items()},
            "ca": str(pki / "ca.pem"),
            "client": {"cert": str(pki / "client_001.pem"), "key": str(pki / "client_001.key")},
            "admin": {
                "cert": str(pki / "admin.pem"),
                "key": str(pki / "admin.key"),
                "user": ADMIN,
                "password_file": str(self._place.admin_password),
            },
            "pids": {},
            "data": str(self._place.folder),
        }

    def _publish(self, status: dict[str, Any]) -> None:
        pids = {child.name: [child.pid] for child in self._keeper.children()}
        text = json.dumps(status | {"pids": pids}, indent=2)
        write_private(self._place.status_file, text)


def seed(place: Place) -> None:
    """Migrate, grant, make the CA and the certificates; where that is done already, do nothing."""
    config = place.config
    files = ["--config", f"{config}/main_server.yaml"]
    files += ["--migration-config", f"{config}/migration.yaml", "--pki", str(place.pki)]
    files += ["--analytics-config", f"{config}/analytics.yaml"]
    files += ["--retention-config", f"{config}/retention.yaml"]
    files += ["--admin-password", str(place.admin_password)]
    command = [sys.executable, "-m", "infra.dev.seed", *files]
    run("seeding", command, environment=clean_environment(), folder=place.folder)


def say(text: str) -> None:
    """Print an event of ours, in the manner of the services' lines."""
    line = {"ts": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": text}
    print(render("dev", json.dumps(line), colours_wanted()), flush=True)


def _wait_for_former(place: Place) -> None:
    """Wait for a killed supervisor's children: they may be about to end, and their locks tell."""
    locks = [*place.run.glob("*.lock"), *(place.folder / name / "lock" for name in ENGINES)]
    for lock in locks:
        if lock.exists() and lock != place.supervisor_lock:
            os.close(take(lock, lock.stem if lock.stem != "lock" else lock.parent.name))


def _stop(_number: int, _frame: object) -> NoReturn:
    raise Stopped


def main() -> None:
    """Run as the background process that stack.py starts."""
    parser = argparse.ArgumentParser(prog="python -m infra.dev.supervisor")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port-base", type=int, required=True)
    arguments = parser.parse_args()
    supervise(Place(arguments.folder), Ports.at(arguments.port_base), in_foreground=False)


def supervise(place: Place, ports: Ports, *, in_foreground: bool) -> None:
    private_folder(place.run)
    private_folder(place.logs)
    for log in place.logs.glob("*.log"):
        if log.stat().st_size > LARGEST_LOG:
            log.rename(log.with_suffix(".log.old"))
    try:
        Supervisor(place, ports, in_foreground=in_foreground).run()
    except Failure as failure:
        give_up(failure)


if __name__ == "__main__":
    main()
