"""Files for the node exporter: whole, and readable for somebody else, whatever our umask is."""

import os
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Gauge

from gatepost import textfile


def test_a_file_is_whole_and_the_collectors_to_read(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    gauge = Gauge("night", "Of a night.", registry=registry)
    before = os.umask(0o077)
    try:
        for value in (1, 2):
            gauge.set(value)
            textfile.write(tmp_path, "night.prom", registry)
    finally:
        os.umask(before)
    (file,) = tmp_path.iterdir()
    assert "night 2.0" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o644


def test_that_it_can_not_be_written_is_said_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backup that was made is none the less made where the disk of its metrics is full."""
    textfile.write(tmp_path / "nowhere", "night.prom", CollectorRegistry())
    assert "night.prom can't be written: No such file" in capsys.readouterr().err


def test_nothing_is_written_where_nobody_wants_to_know() -> None:
    textfile.write(None, "night.prom", CollectorRegistry())
