"""Docstrings are read from their first word on: it says what a thing does, or what it is."""

import ast
from collections.abc import Iterator

import pytest

from infra.dev.paths import ROOT

ROOMS = ("gatepost", "proxy", "worker", "main_server", "portal", "analytics", "infra")
RIDDLES = {
    *(
        "All",
        "And",
        "As",
        "At",
        "Before",
        "But",
        "By",
        "Each",
        "For",
        "From",
        "How",
        "In",
        "Nobody",
    ),
    *("Nobody", "None", "Nor", "Of", "On", "Or", "Those", "To", "Until", "What", "When", "Where"),
    *("Whether", "Which", "While", "Who", "Whom", "Whose", "Why", "With", "Without"),
}
"""What a sentence begins with whose subject the reader has to guess."""
SHOWN = {"command", "callback"}
"""What makes a function's docstring the help of a command."""


@pytest.mark.parametrize("room", ROOMS)
def test_each_begins_with_what_it_says(room: str) -> None:
    found = {
        f"{file.relative_to(ROOT)}:{line}": words
        for file in sorted((ROOT / room).rglob("*.py"))
        for line, words in docstrings(ast.parse(file.read_text()))
        if words.split()[0].rstrip(",:") in RIDDLES
    }
    assert found == {}, "begin with a verb, or with the thing that is meant"


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module and of its functions, but for the help of commands."""
    if words := ast.get_docstring(tree):
        yield 1, words
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_command(node):
            continue
        if words := ast.get_docstring(node):
            yield node.lineno, words


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    calls = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    return any(isinstance(one, ast.Attribute) and one.attr in SHOWN for one in calls)
