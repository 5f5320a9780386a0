"""Whether what a document names exists. Each check returns what is wrong, or None.

A code span is judged by its form: a command, a route, a test, a path, a dotted name, a word. What
has none of these forms (a header, a line of a configuration) is not judged.
"""

import ast
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from typer.main import get_command

from gatepost.cli.configuring import configured, settings_class
from gatepost.cli.main import app
from infra.dev import paths
from infra.dev.options.commands import COMMANDS
from infra.dev.paths import ROOT, VAR
from infra.dev.place import Place
from infra.dev.seed import ORDERS
from main_server.store.tables import metadata

PACKAGES = (
    *("gatepost", "proxy", "worker", "main_server", "portal", "analytics"),
    *("migrations", "infra"),
)
SOURCES = (*PACKAGES, "bench", "tests")
SETTINGS = tuple(settings_class(one) for one in configured().values())

_ROUTE = re.compile(r"(?:(?:GET|POST|PUT|DELETE) )?(/[\w/{}-]+)")
_PATH = re.compile(r"(?!application/)\.?[\w-][\w.-]*/[\w./-]*")
_FILE = re.compile(r"\.?[\w-]+\.(?:py|md|toml|lua|conf|cnf|acl|sql|txt|mako)")
_DOTTED = re.compile(r"[a-z_]\w*(?:\.\w+)+")
_WORD = re.compile(r"[A-Za-z_]\w+")


def wrong_with(span: str) -> str | None:
    if span.startswith(("./dev ", "gatepost ", "python -m ")):
        return wrong_with_command(span)
    if "::" in span:
        return None if has_test(span) else "there is no such test"
    if match := _ROUTE.fullmatch(span):
        return None if has_route(match[1]) or on_machines(span) else "nothing is served there"
    if _PATH.fullmatch(span):
        return None if has_path(span) else "there is no such path"
    if _FILE.fullmatch(span):
        return None if span in file_names() else "no file is called so"
    if _DOTTED.fullmatch(span):
        return wrong_with_dotted(span)
    if _WORD.fullmatch(span):
        return None if span in words() else "the code does not know this word"
    return None


def wrong_with_command(line: str) -> str | None:
    """Of a line with pipes each part is a command; those of others are not judged."""
    for part in re.split(r"\||&&|;", re.sub(r"'[^']*'", "''", line)):
        words = shlex.split(part, comments=True)
        if words[:1] == ["./dev"]:
            wrong = _wrong_with_dev(words[1:])
        elif words and Path(words[0]).name == "gatepost":
            wrong = _wrong_with_gatepost(words[1:])
        elif words[:2] == ["python", "-m"]:
            wrong = None if find_spec(words[2]) else f"there is no module {words[2]}"
        else:
            wrong = None
        missing = [word for word in words if word.startswith("var/") and not has_path(word)]
        if wrong or missing:
            return wrong or f"{missing} is not made there"
    return None


def _wrong_with_dev(words: list[str]) -> str | None:
    command, *rest = words
    if command not in COMMANDS:
        return f"./dev has no command {command}"
    missing = [word for word in rest if "/" in word and not has_path(word)]
    if missing:
        return f"there is no {missing}"
    said, filled_in = StringIO(), ["1" if word == "N" else word for word in rest if word != "NAME"]
    try:
        with redirect_stderr(said), redirect_stdout(said):
            COMMANDS[command].check(filled_in)
    except SystemExit as end:
        return said.getvalue() if end.code else None
    return None


def _wrong_with_gatepost(words: list[str]) -> str | None:
    command: Any = get_command(app)
    options = {"--help", "--version"}
    for word in words:
        if word.startswith("-"):
            if word not in options | {opt for param in command.params for opt in param.opts}:
                return f"gatepost … {command.name} has no option {word}"
        elif hasattr(command, "get_command"):
            command = command.get_command(None, word)
            if command is None:
                return f"gatepost has no command {word}"
    return None


def has_test(test_id: str) -> bool:
    file, _, name = test_id.partition("::")
    if not (ROOT / file).is_file():
        return False
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(node, functions) and node.name == name for node in ast.walk(tree))


def has_path(name: str) -> bool:
    """What only running makes is looked for among the places that the code names."""
    path = ROOT / name
    if not path.is_relative_to(VAR) or path == VAR:
        return path.exists() or path == VAR
    if path.parent == Place(VAR).pki:
        return path.stem in {*ORDERS, "ca"} and path.suffix in (".pem", ".key")
    place = Place(VAR)
    made = [paths.VENV, paths.BOOT, paths.CACHE, paths.DOCS, paths.ENGINES]
    made += [place.config, place.pki, place.secrets, place.run, place.logs, place.status_file]
    return any(path.is_relative_to(one) for one in made)


def on_machines(place: str) -> bool:
    """Whether what is in systemd/ names it; SERVICE stands for a service's name."""
    if not place.startswith(("/etc/", "/opt/", "/usr/", "/var/")):
        return False
    files = [file for file in (ROOT / "systemd").rglob("*") if file.is_file()]
    return any(place.partition("SERVICE")[0] in file.read_text() for file in files)


def wrong_with_dotted(name: str) -> str | None:
    """A module, what is in it, entry points, a setting of a service, or a column of the ledger."""
    if name in entry_points().groups:
        return None
    if any(_has_setting(settings, name.split(".")) for settings in SETTINGS):
        return None
    if name.split(".")[0] in PACKAGES:
        return _wrong_with_module(name.split("."))
    table, _, column = name.partition(".")
    if table in metadata.tables and column in metadata.tables[table].columns:
        return None
    return None if name in corpus() else "no code, setting or column is called so"


def _wrong_with_module(parts: list[str]) -> str | None:
    for length in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if part not in getattr(found, "__annotations__", {}) and not hasattr(found, part):
                return f"{'.'.join(parts[:length])} has no {part}"
            found = getattr(found, part, None)
        return None
    return f"there is no module {parts[0]}"


def _has_setting(settings: type[BaseModel], path: list[str]) -> bool:
    field = settings.model_fields.get(path[0])
    if field is None or len(path) == 1:
        return field is not None
    inner = field.annotation
    return (
        isinstance(inner, type) and issubclass(inner, BaseModel) and _has_setting(inner, path[1:])
    )


@cache
def corpus() -> str:
    """All that is written in our sources, but for the documents and their tests."""
    kinds = {".py", ".lua", ".sql", ".conf", ".cnf", ".acl", ".toml"}
    files = [file for top in SOURCES for file in (ROOT / top).rglob("*") if file.suffix in kinds]
    ours = [file for file in files if not file.is_relative_to(Path(__file__).parent)]
    texts = [file.read_text(encoding="utf-8") for file in (*ours, ROOT / "pyproject.toml")]
    return "\n".join(texts)


@cache
def words() -> set[str]:
    return set(re.findall(r"\w+", corpus()))


@cache
def file_names() -> set[str]:
    tops = [file.name for file in ROOT.iterdir()]
    return {*tops, *(file.name for top in SOURCES for file in (ROOT / top).rglob("*"))}


@cache
def _route_parts() -> set[str]:
    """The strings in our sources that a route can be made of."""
    return set(re.findall(r"[\"'](/[\w/{}-]+)[\"']", corpus()))


def has_route(route: str) -> bool:
    """A route stands there whole, or as what its router begins with and the rest."""
    parts = _route_parts()
    splits = [place.start() for place in re.finditer("/", route)][1:]
    return route in parts or any(route[:at] in parts and route[at:] in parts for at in splits)
