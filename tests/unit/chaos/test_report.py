"""The report is made of the files alone, and says what they say."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.chaos.report import write_report
from tests.unit.chaos.scenes import Scene, number


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    for n in range(1, 6):
        scene.accepted(f"text-{n}", n, at=float(n))
        scene.delivered(f"text-{n}", n, at=n + 0.5)
    scene.declined("away", at=3.2, status=503, type="unavailable", retry_after="1")
    scene.fault("flushall", "redis", 2.0, 2.0, destroyed=True)
    scene.fault("<kill>", "worker-1", 3.0, 9.0)
    scene.run = {
        "seed": 7,
        "commit": "abc",
        "machine": "2 cores",
        "started": "now",
        "where": "here",
    }
    return scene


def test_it_says_the_line_that_matters_and_how_to_have_the_run_again(scene: Scene) -> None:
    scene.judge()
    write_report(scene.folder)
    told = (scene.folder / "report.txt").read_text()
    assert told.endswith("green\nacknowledged 5 · lost 0 · twice 0 · stuck 0 · exposed 0\n")
    assert "Seed 7, commit abc" in told
    assert "2 faults: <kill> 1, flushall 1" in told
    assert "declined 1" in told
    assert "holds      No acknowledged message is lost (5 ids" in told
    assert "not shown  A retry never blocks (0 deliveries" in told


def test_a_broken_promise_is_told_with_its_reasons_in_both_forms(scene: Scene) -> None:
    scene.accepted("second", 9)
    scene.judge()
    assert not write_report(scene.folder).green
    for name in ("report.txt", "report.html"):
        told = (scene.folder / name).read_text()
        assert "lost 1" in told
        assert f"lost: {number(9)}" in told
        assert "BROKEN" in told


def test_the_page_has_every_fault_in_its_picture_and_loads_nothing(scene: Scene) -> None:
    scene.judge()
    write_report(scene.folder)
    page = (scene.folder / "report.html").read_text()
    picture = page[page.index("<svg") : page.index("</svg>") + 6]
    tree = ElementTree.fromstring(picture)
    assert [one.get("class") for one in tree.iter("rect")] == ["destroyed", "fault"]
    titles = [one.findtext("title") for one in tree.iter("rect")]
    assert titles == ["flushall of redis, 1.0 to 1.0 s", "<kill> of worker-1, 2.0 to 8.0 s"]
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page


def test_a_run_in_which_nothing_was_posted_has_a_report_and_is_not_green(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.judge()
    assert not write_report(scene.folder).green
