"""Each action that the code writes into the audit log has its words, and can be searched for."""

import ast
from pathlib import Path

import main_server
from main_server.audit.words import ACTIONS

_WRITERS = {
    *("Entry", "entry", "_entry", "Cause", "cross", "note_look", "note_crossing"),
    *("_note", "_note_each_domain", "_tell", "_change"),
}


def test_every_action_has_its_words() -> None:
    """Literals of the form `thing.done` among the arguments of what makes entries."""
    found: dict[str, str] = {}
    for file in Path(main_server.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and _name(node.func) in _WRITERS:
                found |= dict.fromkeys(_actions(node), file.name)
    missing = {action: file for action, file in found.items() if action not in ACTIONS}
    assert len(found) > 20
    assert not missing, "say in main_server.audit.words what it means"


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _actions(call: ast.Call) -> list[str]:
    texts = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return [one for one in texts if isinstance(one, str) and _is_action(one)]


def _is_action(text: str) -> bool:
    thing, dot, done = text.partition(".")
    return bool(dot) and thing.islower() and done.replace("_", "").isalpha() and done.islower()
