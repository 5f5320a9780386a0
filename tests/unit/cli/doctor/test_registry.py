"""What isn't installed on a machine isn't looked at there, and breaks nothing."""

from importlib.metadata import EntryPoint

import pytest

from gatepost.cli.doctor import registry


class Broken(EntryPoint):
    """Of a service whose library is missing."""

    def load(self) -> object:
        raise ModuleNotFoundError(f"No module named {self.value!r}", name=self.value)


def test_without_spark_the_others_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    spark = Broken("analytics", registry.SPARK, registry.LOOKS)
    monkeypatch.setattr(registry, "entry_points", lambda **_: [spark])
    assert registry.all_looks()


def test_a_fault_of_ours_is_none_that_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Broken("proxy", "proxy.nowhere", registry.LOOKS)
    monkeypatch.setattr(registry, "entry_points", lambda **_: [fault])
    with pytest.raises(ModuleNotFoundError):
        registry.all_looks()
