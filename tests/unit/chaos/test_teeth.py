"""The planted bugs still fit the code, and name what there is."""

import subprocess

import pytest

from infra.dev.paths import ROOT
from tests.chaos.checker.promises import PROMISES
from tests.chaos.teeth.scenes import SCENES
from tests.chaos.teeth.teeth import Tooth, read_teeth

TEETH = read_teeth()


def test_there_are_at_least_twenty() -> None:
    assert len(TEETH) >= 20


@pytest.mark.parametrize("tooth", TEETH, ids=lambda tooth: tooth.name)
def test_each_applies_and_names_a_promise_and_a_scene(tooth: Tooth) -> None:
    command = ["git", "apply", "--check", str(tooth.patch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{tooth.patch.name} has to be made anew:\n{done.stderr}"
    assert tooth.promise in PROMISES
    assert tooth.scene in SCENES
    assert tooth.bug


def test_no_scene_is_there_for_nothing() -> None:
    assert {tooth.scene for tooth in TEETH} == set(SCENES)
