"""The supervisor, as a real process with real children: it keeps them, and takes them along."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import httpx
import pytest
import yaml

T = TypeVar("T")
PATIENCE = 15.0


def eventually(look: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Looks again and again until there is something to be seen."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what} did not happen in {seconds} s"
        time.sleep(0.01)
    return found


def free_ports(number: int) -> list[int]:
    socks = [socket.socket() for _ in range(number)]
    for sock in socks:
        sock.bind(("127.0.0.1", 0))
    ports: list[int] = [sock.getsockname()[1] for sock in socks]
    for sock in socks:
        sock.close()
    return ports


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state != "Z"


class Tiny:
    """The tiny service in a process of its own."""

    def __init__(
        self, folder: Path, environment: dict[str, str] | None = None, **settings: Any
    ) -> None:
        self.port, self.ops = free_ports(2)
        workers = settings.pop("workers", 1)
        self.settings = {
            "log": {"level": "debug"},
            "server": {"port": self.port, "workers": workers},
            "ops": {"port": self.ops},
        } | settings
        self.config = folder / "tiny.yaml"
        self.config.write_text(yaml.safe_dump(self.settings))
        self._log = folder / "tiny.log"
        temporary = folder / "tmp"  # what is killed leaves its own there
        temporary.mkdir(exist_ok=True)
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.unit.service.tiny", "--config", str(self.config)],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"TMPDIR": str(temporary)} | (environment or {}),
            )

    def reload(self, **settings: Any) -> None:
        """With these settings beside those that it has."""
        self.settings |= settings
        self.config.write_text(yaml.safe_dump(self.settings))
        self.process.send_signal(signal.SIGHUP)

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = [line for line in self._log.read_text().splitlines() if line.startswith("{")]
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def log(self) -> str:
        return self._log.read_text()

    def readiness(self) -> tuple[int, dict[str, Any]]:
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.ops}/readyz", trust_env=False)
        except httpx.HTTPError:
            return 0, {}
        return answer.status_code, answer.json()

    def wait_ready(self) -> "Tiny":
        eventually(lambda: self.readiness()[0] == 200 or self.process.poll() is not None, "ready")
        assert self.process.poll() is None, self.log()
        return self

    def ask(self, path: str, timeout: float = 5) -> int:
        """The id of the process that answered."""
        answer = httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=timeout, trust_env=False)
        pid: int = answer.json()["pid"]
        return pid

    def told(self, path: str) -> None:
        """Asks without waiting for an answer."""
        with suppress(httpx.HTTPError):
            self.ask(path, timeout=0.2)

    def metric(self, name: str) -> float:
        text = httpx.get(f"http://127.0.0.1:{self.ops}/metrics", trust_env=False).text
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    @property
    def children(self) -> list[int]:
        """Those that were started, and are alive."""
        return [e["child"] for e in self.events("process.started") if is_alive(e["child"])]

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def tiny(
    folder: Path, environment: dict[str, str] | None = None, **settings: Any
) -> Iterator[Tiny]:
    service = Tiny(folder, environment, **settings)
    try:
        yield service
    finally:
        with suppress(ProcessLookupError):
            os.killpg(service.process.pid, signal.SIGKILL)
        service.process.wait(PATIENCE)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Tiny]:
    with tiny(tmp_path, workers=2) as running:
        yield running.wait_ready()


def test_it_is_ready_when_every_child_has_been_heard(service: Tiny) -> None:
    status, answer = service.readiness()
    assert status == 200
    assert answer["ready"] is True
    assert answer["checks"]["processes"] == {"ok": True, "detail": "2 of 2"}
    assert answer["checks"]["thing"] == {"ok": True, "detail": None}
    assert len(service.children) == 2


def test_what_was_imported_is_not_looked_through_for_garbage(service: Tiny) -> None:
    """It takes a twentieth of a second and more, in which a process answers nobody."""
    answer = httpx.get(f"http://127.0.0.1:{service.port}/", trust_env=False)
    assert answer.json()["frozen"] > 10_000


def test_a_childs_problem_is_the_services(tmp_path: Path) -> None:
    with tiny(tmp_path, problem="it does not answer") as running:
        eventually(lambda: "thing" in running.readiness()[1].get("checks", {}), "heard")
        status, answer = running.readiness()
    assert status == 503
    assert answer["ready"] is False
    assert answer["checks"]["thing"] == {"ok": False, "detail": "it does not answer"}


def test_what_only_helps_is_told_and_hinders_nothing(tmp_path: Path) -> None:
    with tiny(tmp_path, note="it does not answer") as running:
        answer = running.wait_ready().readiness()[1]
    assert answer["ready"] is True
    assert answer["checks"]["other"] == {"ok": True, "detail": "it does not answer"}


@pytest.mark.parametrize(("path", "how"), [("/exit", "exit code 3"), ("/raise", "exit code 1")])
def test_a_crashed_child_is_replaced_and_said_so(service: Tiny, path: str, how: str) -> None:
    before = set(service.children)
    service.told(path)
    (died,) = eventually(lambda: service.events("process.died"), "a death")
    assert died["how"] == how
    eventually(lambda: len(set(service.children) - before) == 1, "a replacement")
    service.wait_ready()
    assert died["child"] not in service.children
    assert service.ask("/") in service.children


def test_a_child_that_was_killed_is_replaced(service: Tiny) -> None:
    victim = service.children[0]
    os.kill(victim, signal.SIGKILL)
    (died,) = eventually(lambda: service.events("process.died"), "a death")
    assert (died["child"], died["how"]) == (victim, "signal 9")
    service.wait_ready()


def test_an_error_is_logged_without_its_text(service: Tiny) -> None:
    service.told("/raise")
    (failed,) = eventually(lambda: service.events("process.failed"), "an error")
    assert failed["error"] == "ValueError"
    assert any("tiny.py" in place for place in failed["where"])
    assert "CANARY" not in service.log()


def test_a_child_that_dies_at_once_is_not_started_in_a_hurry(tmp_path: Path) -> None:
    with tiny(tmp_path, die_at_start=True) as running:
        eventually(lambda: len(running.events("process.died")) >= 4, "deaths")
        starts = [e["ts"] for e in running.events("process.started")][:4]
        assert running.readiness()[0] == 503
        assert running.process.poll() is None
        assert running.stop() == 0
    seconds = [float(ts[17:-1]) + 60 * float(ts[14:16]) for ts in starts]
    waits = [(b - a) % 3600 for a, b in pairwise(seconds)]
    for wait, step in zip(waits, (0.1, 0.2, 0.4), strict=True):
        assert wait >= step / 2


def test_a_stuck_child_is_killed_and_replaced(tmp_path: Path) -> None:
    with tiny(tmp_path) as running:
        (victim,) = running.wait_ready().children
        running.told("/stuck")
        (stuck,) = eventually(lambda: running.events("process.stuck"), "noticing")
        assert stuck["child"] == victim
        eventually(lambda: not is_alive(victim), "the end of it")
        running.wait_ready()
        assert running.ask("/") != victim


@contextmanager
def requested(service: Tiny, path: str) -> Iterator[list[int]]:
    """A request that has begun; how it was answered, if it was."""
    answered: list[int] = []

    def ask() -> None:
        with suppress(httpx.HTTPError):
            url = f"http://127.0.0.1:{service.port}{path}"
            answered.append(httpx.get(url, timeout=5, trust_env=False).status_code)

    asking = Thread(target=ask)
    asking.start()
    eventually(lambda: service.events("slow.begun"), "a request")
    yield answered
    asking.join(PATIENCE)


def test_sigterm_finishes_what_has_begun(service: Tiny) -> None:
    children = service.children
    with requested(service, "/slow") as answered:
        service.process.terminate()
    assert answered == [200]
    assert service.process.wait(PATIENCE) == 0
    assert not any(map(is_alive, children))
    assert service.events("service.stopped")
    assert not service.events("process.died"), "to stop is not to die"


def test_while_it_stops_it_is_not_ready(service: Tiny) -> None:
    asking = Thread(target=service.told, args=("/slow",))
    asking.start()
    eventually(lambda: service.events("slow.begun"), "a request")
    service.process.terminate()
    eventually(lambda: service.readiness()[0] != 200, "stopping")
    assert service.readiness()[0] in (0, 503)
    asking.join(PATIENCE)


def test_a_child_that_will_not_stop_is_killed_in_the_end(tmp_path: Path) -> None:
    with tiny(tmp_path, never_stop=True) as running:
        children = running.wait_ready().children
        started = time.monotonic()
        assert running.stop() == 1, "it says that it had to"
        assert 1.4 < time.monotonic() - started < 6
        assert running.events("process.killed")
        assert not any(map(is_alive, children))


def test_ctrl_c_reaches_all_and_the_parent_decides(service: Tiny) -> None:
    with requested(service, "/slow") as answered:
        os.killpg(service.process.pid, signal.SIGINT)
    assert answered == [200], "a child that heard it itself would have died of it"
    assert service.process.wait(PATIENCE) == 0
    assert not service.events("process.died")
    assert not service.events("process.failed")


def test_children_end_with_their_supervisor(service: Tiny) -> None:
    children = service.children
    service.process.kill()
    service.process.wait(PATIENCE)
    eventually(lambda: not any(map(is_alive, children)), "the end of the children", 3.0)


def test_without_a_supervisor_what_has_begun_is_answered(service: Tiny) -> None:
    children = service.children
    with requested(service, "/slow") as answered:
        service.process.kill()
        eventually(lambda: service.events("supervisor.lost"), "that it is noticed")
    assert answered == [200]
    eventually(lambda: not any(map(is_alive, children)), "the end of the children")


def test_a_child_that_does_not_end_without_its_supervisor_is_ended(tmp_path: Path) -> None:
    with tiny(tmp_path, never_stop=True) as service:
        children = service.wait_ready().children
        assert children
        service.process.kill()
        eventually(lambda: not any(map(is_alive, children)), "the end of the children")


def test_metrics_are_summed_and_a_dead_childs_count_is_kept(service: Tiny) -> None:
    pids = {service.ask("/") for _ in range(40)}
    eventually(lambda: service.metric("tiny_asked_total") == 40.0, "the count")
    assert service.metric("tiny_alive") == 2.0
    os.kill(service.children[0], signal.SIGKILL)
    eventually(lambda: service.events("process.died"), "a death")
    service.wait_ready()
    assert service.metric("tiny_asked_total") == 40.0, f"of {len(pids)} processes"
    service.ask("/")
    assert service.metric("tiny_asked_total") == 41.0
    assert service.metric("tiny_alive") == 2.0, "what is dead is not alive"


def test_the_operators_port_knows_its_paths(service: Tiny) -> None:
    base = f"http://127.0.0.1:{service.ops}"
    with httpx.Client(base_url=base, trust_env=False) as client:
        assert client.get("/healthz").json() == {"alive": True}
        assert client.get("/ready").json() == client.get("/readyz").json()
        assert client.get("/metrics").headers["content-type"].startswith("text/plain")
        assert client.get("/other").status_code == 404


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    with tiny(tmp_path) as running:
        running.wait_ready()
        assert [one.name[:13] for one in (tmp_path / "tmp").iterdir()] == ["gatepost-tiny"]
        assert running.stop() == 0
    assert list((tmp_path / "tmp").iterdir()) == []
