"""A server that loads what it has is waited for, however much that is; one that is silent isn't."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.dev.engines import server
from infra.dev.engines.server import LOADING, Server
from infra.dev.steps import Failure


class Clock:
    """Each look at it takes ten seconds."""

    def __init__(self) -> None:
        self._now = 0.0

    def monotonic(self) -> float:
        self._now += 10.0
        return self._now

    def sleep(self, _seconds: float) -> None:
        """Nothing has to pass by itself."""


class Silent(Server):
    """Says these, one after the other, and then answers."""

    def __init__(self, folder: Path, says: Sequence[str]) -> None:
        super().__init__(folder, 1)
        self._says = list(says)
        child: Any = type("Running", (), {"name": "redis", "exit_code": lambda _: None})()
        self.child = child

    def silence(self) -> str | None:
        return self._says.pop(0) if self._says else None


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "time", Clock())


def test_what_it_loads_may_take_as_long_as_it_takes(tmp_path: Path) -> None:
    Silent(tmp_path, ["refused", *[LOADING] * 100, "refused"]).wait()


def test_one_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="redis does not answer: refused"):
        Silent(tmp_path, ["refused"] * 100).wait()
