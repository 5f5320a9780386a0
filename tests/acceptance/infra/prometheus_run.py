"""A real Prometheus and a real node exporter beside the stack, by the files that come with us: only
where targets are, and how often they are asked, is the test's."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from infra.dev.ports import HOST, free_port
from infra.dev.prometheus import Program, find
from tests.acceptance.site import eventually
from tests.rules import FILES, FOLDER


@dataclass(frozen=True)
class Prometheus:
    client: httpx.Client

    def ask(self, path: str, **given: str) -> Any:
        answer = self.client.get(f"/api/v1/{path}", params=given)
        assert answer.status_code == 200, f"{given}: {answer.text}"
        return answer.json()["data"]

    def values(self, query: str) -> list[float]:
        """Of each series that the query finds now, if it is a number."""
        found = self.ask("query", query=query)["result"]
        values = [float(one["value"][1]) for one in found]
        return [value for value in values if value == value]

    def series(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.ask("series", **{"match[]": '{job="gatepost"}'})
        return found

    def names(self) -> set[str]:
        return set(self.ask("label/__name__/values"))


@contextmanager
def watching(folder: Path, metrics: dict[str, list[str]], textfiles: Path) -> Iterator[Prometheus]:
    """`metrics` are the ports for operators as `./dev status` says them."""
    port, node = free_port(), free_port()
    targets = [
        {"targets": [url.split("/")[2] for url in urls], "labels": {"service": service}}
        for service, urls in metrics.items()
    ]
    configuration = (FOLDER / "prometheus.yaml").read_text()
    (folder / "prometheus.yaml").write_text(configuration.replace("15s", "1s"))
    (folder / "targets.yaml").write_text(yaml.safe_dump(targets))
    (folder / "nodes.yaml").write_text(yaml.safe_dump([{"targets": [f"{HOST}:{node}"]}]))
    for file in FILES:
        shutil.copy(file, folder)
    exporter = [
        f"--web.listen-address={HOST}:{node}",
        f"--collector.textfile.directory={textfiles}",
        "--collector.filesystem.fs-types-exclude=^(proc|sysfs|cgroup2?|devpts|mqueue)$",
    ]
    server = [
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={HOST}:{port}",
        "--log.level=warn",
    ]
    with ExitStack() as stack:
        stack.enter_context(_running(Program.NODE_EXPORTER, exporter, folder))
        stack.enter_context(_running(Program.PROMETHEUS, server, folder))
        url = f"http://{HOST}:{port}"
        client = stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=20))
        eventually(lambda: _is_ready(client), "Prometheus is ready")
        yield Prometheus(client)


@contextmanager
def _running(program: Program, arguments: Sequence[str], folder: Path) -> Iterator[None]:
    with (folder / f"{program.name.lower()}.log").open("w") as log:
        process = subprocess.Popen([find(program), *arguments], stdout=log, stderr=log, cwd=folder)
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/-/ready").status_code == 200
    except httpx.HTTPError:
        return False


def queries_of_boards(folder: Path) -> dict[str, str]:
    """Each panel's queries, as Grafana would send them, by where they stand."""
    return {
        f"{file.stem}: {panel['title']} {target['refId']}": target["expr"]
        for file in sorted(folder.glob("*.json"))
        for panel in json.loads(file.read_text(encoding="utf-8"))["panels"]
        for target in panel["targets"]
    }
