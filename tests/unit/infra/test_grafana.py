"""The dashboards: their files are what the program makes, and nothing in them is there twice."""

import json

import pytest

from infra.grafana.__main__ import FOLDER
from infra.grafana.boards import BOARDS, Board
from infra.grafana.rendering import render

every_board = pytest.mark.parametrize("board", BOARDS, ids=lambda one: one.name)


@every_board
def test_its_file_is_what_the_program_makes(board: Board) -> None:
    written = (FOLDER / f"{board.name}.json").read_text(encoding="utf-8")
    assert written == render(board), "python -m infra.grafana writes it anew"


def test_there_are_no_other_files() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {board.name for board in BOARDS}


@every_board
def test_panels_have_places_and_names_of_their_own(board: Board) -> None:
    panels = json.loads(render(board))["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(panels) == len({panel["title"] for panel in panels})
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels)


@every_board
def test_each_line_has_a_name(board: Board) -> None:
    for panel in json.loads(render(board))["panels"]:
        names = [target["legendFormat"] for target in panel["targets"]]
        assert all(names)
        assert len(set(names)) == len(names)
