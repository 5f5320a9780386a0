"""A Redis Cluster of three masters, made by hand: three child processes share the slots."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from infra.dev.child import Child
from infra.dev.engines import Engines
from infra.dev.ports import HOST, free_port
from tests.integration.queue.servers import redis_child

SLOTS = ((0, 5460), (5461, 10922), (10923, 16383))
READY_SECONDS = 30.0


class RedisCluster:
    """Three masters without replicas; `url` leads to one that knows the others."""

    def __init__(self, engines: Engines, folder: Path) -> None:
        self._ports = [(free_port(), free_port()) for _ in SLOTS]
        self._children = [
            _child(engines, folder / str(port), port, bus) for port, bus in self._ports
        ]
        self.url = f"redis://{HOST}:{self._ports[0][0]}"

    def __enter__(self) -> Self:
        for child in self._children:
            child.start()
        with ExitStack() as stack:
            nodes = [stack.enter_context(redis.Redis(HOST, port)) for port, _ in self._ports]
            _await(lambda: all(_answers(node) for node in nodes), "a node to answer")
            for node, (first, last) in zip(nodes, SLOTS, strict=True):
                node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            for port, bus in self._ports[1:]:
                nodes[0].execute_command("CLUSTER", "MEET", HOST, port, bus)
            _await(lambda: all(_is_whole(node) for node in nodes), "the cluster to be whole")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in self._children:
            child.kill()


def _child(engines: Engines, folder: Path, port: int, bus: int) -> Child:
    options = ("--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", 2000)
    return redis_child(engines, folder, port, *options)


def _answers(node: "redis.Redis") -> bool:
    try:
        return bool(node.ping())
    except redis.ConnectionError:
        return False


def _is_whole(node: Any) -> bool:
    told = node.execute_command("CLUSTER", "INFO")
    return b"cluster_state:ok" in told and b"cluster_known_nodes:%d\r" % len(SLOTS) in told


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited {READY_SECONDS} s for {what}"
        time.sleep(0.02)
