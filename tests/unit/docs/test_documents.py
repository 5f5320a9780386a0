"""What the documents name exists, and what they must name is there."""

import ast
from dataclasses import asdict
from importlib import import_module

import pytest

from infra.dev.paths import ROOT
from infra.dev.ports import BASE, HOST, Ports
from infra.dev.welcome import curl_line
from tests.unit.docs.documents import Document, read_documents
from tests.unit.docs.names import PACKAGES, wrong_with, wrong_with_command

DOCUMENTS = {document.name: document for document in read_documents()}
README, ARCHITECTURE = DOCUMENTS["README.md"], DOCUMENTS["ARCHITECTURE.md"]
DECISIONS = [one for name, one in DOCUMENTS.items() if name.startswith("docs/decisions/0")]

every_document = pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())


GENERATED = "docs/configuration.md"
"""Each name in it comes from a class: tests/unit/config/test_reference.py."""


@pytest.mark.parametrize(
    "document", [d for n, d in DOCUMENTS.items() if n != GENERATED], ids=lambda one: one.name
)
def test_what_a_document_names_exists(document: Document) -> None:
    found = {span: wrong for span in document.spans if (wrong := wrong_with(span))}
    assert found == {}


@every_document
def test_what_a_reader_is_to_type_can_be_typed(document: Document) -> None:
    found = {line: wrong for line in document.commands() if (wrong := wrong_with_command(line))}
    assert found == {}


@every_document
def test_links_lead_somewhere(document: Document) -> None:
    for link in document.links:
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        file = document.file.parent / target if target else document.file
        assert file.exists(), link
        assert not anchor or anchor in Document(file).anchors, link


@every_document
def test_no_code_span_is_broken_over_lines(document: Document) -> None:
    """Half a span would be read by nobody: neither by the tests above nor as code."""
    assert [line for line in document.prose.splitlines() if line.count("`") % 2] == []


@every_document
def test_python_can_be_pasted(document: Document) -> None:
    for block in document.blocks:
        if block.language != "python":
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom):
                module = import_module(node.module or "")
                assert [one.name for one in node.names if not hasattr(module, one.name)] == []


def test_the_readme_has_the_line_that_dev_up_prints() -> None:
    pki = ROOT / "var" / "pki"
    client = {"cert": str(pki / "client_001.pem"), "key": str(pki / "client_001.key")}
    proxy = f"https://{HOST}:{Ports.at(BASE).proxy}"
    line = curl_line({"proxy": proxy, "ca": str(pki / "ca.pem"), "client": client})
    assert line in README.commands()


def test_the_readme_names_every_port() -> None:
    table = README.text.partition("## Where things listen")[2].partition("## ")[0]
    assert [port for port in asdict(Ports.at(BASE)).values() if str(port) not in table] == []


def test_the_map_shows_every_package_and_folder() -> None:
    shown = set(ARCHITECTURE.spans)
    folders = {
        entry.name
        for entry in ROOT.iterdir()
        if entry.is_dir() and not entry.name.startswith(".") and entry.name not in ("var", "dist")
    }
    assert {name for name in {*PACKAGES, *folders} if f"{name}/" not in shown} == set()


def test_the_map_shows_every_subject_of_the_main_server() -> None:
    shown = set(ARCHITECTURE.spans)
    subjects = [file.parent.name for file in ROOT.glob("main_server/*/__init__.py")]
    assert [name for name in subjects if f"main_server/{name}/" not in shown] == []


def test_the_drawing_of_the_engine_has_every_operation() -> None:
    drawing = next(block.text for block in ARCHITECTURE.blocks if "READY" in block.text)
    operations = [file.stem for file in ROOT.glob("gatepost/queue/lua/*.lua")]
    assert [name for name in operations if name not in drawing] == []


@pytest.mark.parametrize("number", range(1, 14))
def test_each_invariant_says_what_shows_it(number: int) -> None:
    rows = [line for line in ARCHITECTURE.text.splitlines() if line.startswith(f"| I{number} |")]
    assert len(rows) == 1
    assert any(words in rows[0] for words in ("::test_", "not built yet", "not shown yet"))


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(one.file.name[:4]) for one in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("decision", DECISIONS[1:], ids=[one.file.stem for one in DECISIONS[1:]])
def test_a_decision_says_why_what_and_with_what_effect(decision: Document) -> None:
    assert decision.text.startswith(f"# {decision.file.name[:4]}: ")
    for part in ("**Status:**", "**Context.**", "**Decision.**", "**Consequences.**"):
        assert part in decision.text


@pytest.mark.parametrize(
    "span",
    [
        "proxy/no_such_file.py",
        "proxy.endpoints.no_such_function",
        "proxy.no_such_module.accept",
        "tests/unit/docs/test_documents.py::test_that_is_not_there",
        "GET /api/v1/nothing",
        "./dev dance",
        "./dev up --sideways",
        "./dev bench dance",
        "gatepost message sing",
        "gatepost message send --loudly",
        "python -m infra.dev.no_such_module",
        "var/no_such_folder/file",
        "var/pki/nobody.pem",
        "no_such_file.py",
        "rate_limiting.no_such_setting",
        "domains.no_such_column",
        "NO_SUCH_VARIABLE",
    ],
)
def test_a_name_that_does_not_exist_is_seen(span: str) -> None:
    assert wrong_with(span)
