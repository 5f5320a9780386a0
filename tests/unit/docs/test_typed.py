"""Each line that operators are told to type is in the table of those that tests type."""

from tests.rules import read_alerts
from tests.typed import printed_lines, read_lines

LINES = {line.typed: line for line in read_lines()}


def test_each_line_that_is_printed_is_typed_or_it_says_why_not() -> None:
    printed = printed_lines()
    assert [line for line in printed if line not in LINES] == []
    assert [line for line in LINES if line not in printed] == []
    for line in LINES.values():
        for where in (line.here, line.there):
            assert where is True or (isinstance(where, str) and len(where) > 10)


def test_what_stands_for_something_is_in_its_line() -> None:
    for line in LINES.values():
        assert all(words in line.typed for words in line.stands_for)


def test_most_are_typed_and_those_of_alerts_all() -> None:
    assert sum(line.here is True for line in LINES.values()) > 50
    assert sum(line.there is True for line in LINES.values()) > 70
    for alert in read_alerts():
        assert True in (LINES[alert.command].here, LINES[alert.command].there), alert.name
