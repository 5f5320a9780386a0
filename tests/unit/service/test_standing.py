"""What a supervisor tells of its service: by check how many processes have something to say."""

from prometheus_client.core import Metric

from gatepost import __version__
from gatepost.service.ops import helpful, needed
from gatepost.service.standing import Standing, families


def told(standing: Standing) -> dict[str, dict[tuple[str, ...], float]]:
    found: dict[str, dict[tuple[str, ...], float]] = {}
    one: Metric
    for one in families(standing):
        for sample in one.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


def test_each_check_counts_the_processes_that_it_troubles() -> None:
    well, ill = {"ledger": helpful(None)}, {"ledger": helpful("slow"), "redis": needed("away")}
    said = told(Standing(False, 3, [well, ill, ill], 2))
    assert said["gatepost_troubled_processes"] == {("ledger",): 2, ("redis",): 2}
    assert said["gatepost_ready"] == {(): 0}
    assert said["gatepost_processes"] == {(): 3}
    assert said["gatepost_processes_wanted"] == {(): 3}
    assert said["gatepost_process_deaths_total"] == {(): 2}


def test_it_says_which_version_runs() -> None:
    ((labels, value),) = told(Standing(True, 1, [], 0))["gatepost_build_info"].items()
    assert labels[0] == __version__
    assert value == 1
