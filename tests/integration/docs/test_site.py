"""The site of the documents, built as `./dev docs` builds it: warnings fail it."""

from pathlib import Path

import pytest

from infra.dev.commands.docs import build


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Building it checks it as well: Failure says what is wrong."""
    return build(tmp_path_factory.mktemp("docs"))


def test_it_begins_at_the_list_of_all_documents(site: Path) -> None:
    assert 'url=docs/index.html"' in (site / "index.html").read_text()
    shown = (site / "docs" / "index.html").read_text()
    assert 'href="problems/README.html"' in shown


def test_a_link_to_a_folder_leads_to_its_readme(site: Path) -> None:
    assert 'href="docs/decisions/README.html"' in (site / "ARCHITECTURE.html").read_text()
