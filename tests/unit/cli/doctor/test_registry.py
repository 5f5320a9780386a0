"""What isn't installed on a machine isn't looked at there, and breaks nothing."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from gatepost.cli.doctor import registry


class Broken(EntryPoint):
    """Of a service whose library is missing."""

    def load(self) -> object:
        raise ModuleNotFoundError(f"No module named {self.value!r}", name=self.value)


def test_without_spark_the_others_are_looked_at() -> None:
    """A process of its own, to which Spark's packages are not there."""
    program = (
        "import sys\n"
        "from gatepost.cli.doctor import registry\n"
        "class Hidden:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] in registry.SPARK:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "names = {look.name for look in registry.all_looks()}\n"
        "print('clock' in names, 'nights' in names)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["True", "False"]


def test_a_fault_of_ours_is_none_that_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Broken("proxy", "proxy.nowhere", registry.LOOKS)
    monkeypatch.setattr(registry, "entry_points", lambda **_: [fault])
    with pytest.raises(ModuleNotFoundError):
        registry.all_looks()
