"""Charts: where things are drawn, and that the table beside says the same."""

from xml.etree import ElementTree

import pytest

from gatepost.insight.charts import HEIGHT, WIDTH, About, Series, columns, lines
from gatepost.insight.rendering import Whole
from gatepost.insight.words import figure, milliseconds, share
from tests.unit.portal.hostile import HOSTILE
from tests.unit.portal.report_cases import EMPTY, EVERY, FOR_OTHERS, reports

ABOUT = About("n", "T", "Day", ["a", "b", "c"])


def test_columns_stand_on_each_other_up_to_a_round_top() -> None:
    chart = columns(ABOUT, [Series("x", "X", [100, None, 0]), Series("y", "Y", [50, 0, 0])], figure)
    below, above = chart.columns[0].boxes
    assert below.y + below.height == pytest.approx(HEIGHT)
    assert above.y + above.height == pytest.approx(below.y, abs=0.02)
    assert above.y == pytest.approx(HEIGHT * (1 - 150 / 150), abs=0.02)
    assert [one.label for one in chart.heights] == ["50", "100", "150"]
    assert chart.table.rows == [["a", "100", "50"], ["b", "–", "0"], ["c", "0", "0"]]
    assert chart.columns[1].boxes == []
    assert chart.columns[0].words == "a: X 100, Y 50"
    assert chart.words == "X: at most 100, at a; Y: at most 50, at a"


def test_a_line_has_gaps_where_nothing_is_known() -> None:
    chart = lines(ABOUT, [Series("x", "X", [10.0, None, 1_000.0])], milliseconds)
    assert chart.paths[0].d.count("M") == 2
    assert "L" not in chart.paths[0].d
    assert [one.label for one in chart.heights] == ["10 ms", "100 ms", "1 s"]


def test_of_nothing_there_is_a_chart_all_the_same() -> None:
    for make in (columns, lines):
        for places in ([], ["a"]):
            chart = make(
                About("n", "T", "Day", places), [Series("x", "X", [None] * len(places))], figure
            )
            assert chart.words == "Nothing to be shown."


def test_all_of_it_is_within_the_drawing() -> None:
    chart = columns(ABOUT, [Series("x", "X", [3, 7, 12_345])], figure)
    for box in (box for column in chart.columns for box in column.boxes):
        assert 0 <= box.x <= box.x + box.width <= WIDTH
        assert 0 <= box.y <= box.y + box.height <= HEIGHT + 0.02


def test_numbers_are_said_as_people_say_them() -> None:
    assert [milliseconds(n) for n in (None, 0.4, 250, 999.9, 61_000, 7.2e6, 1e8)] == [
        "–", "0.4 ms", "250 ms", "1 s", "1 min", "2 h", "1.2 d"
    ]  # fmt: skip
    assert [share(*n) for n in ((0, 0), (0, 5), (1, 10_000), (99_999, 100_000), (5, 5))] == [
        "–", "0 %", "< 0.1 %", "> 99.99 %", "100 %"
    ]  # fmt: skip


def test_a_page_of_its_own_needs_nothing_else_and_shows_names_as_text() -> None:
    for one in (*EVERY, *FOR_OTHERS, reports(**EMPTY, fewest=10)):
        page = Whole().make(HOSTILE, one, [(HOSTILE, "2026-11.html")], "r")
        assert "<img src=x" not in page
        for other in ("http:", "https:", "src=", "url(", "@import", "<script", " style="):
            assert other not in page.replace("src=x", "")
        assert "default-src 'none'; style-src 'sha256-" in page
        for svg in page.split('<svg class="gpr-plot"')[1:]:
            drawing = svg.partition("<details>")[0].rpartition("</svg>")[0]
            ElementTree.fromstring(f"<svg {drawing}</svg>")
