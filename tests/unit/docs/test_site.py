"""What the site is made of: each document is on the list, and what it may not hold is seen."""

from pathlib import Path

import pytest

from infra.dev.paths import ROOT
from infra.site.checking import wrong_with_site
from infra.site.conf import FOLDERS, navigation
from tests.unit.docs.documents import Document, read_documents

INDEX = Document(ROOT / "docs" / "index.md")


def test_each_document_is_on_the_list() -> None:
    """docs/index.md is the navigation of the site; folders have a page that stands for them."""
    listed = {(INDEX.file.parent / link).resolve() for link in INDEX.links}
    stood_for = {(ROOT / name).parent for name in FOLDERS}
    missing = [
        one.name
        for one in read_documents()
        if one.file not in listed and one.file.parent not in stood_for and one.file != INDEX.file
    ]
    assert missing == [], "name them in docs/index.md, each on a line `- [Title](page.md): …`"


def test_each_line_of_the_list_is_in_the_navigation() -> None:
    parts = "".join(navigation(INDEX.text))
    pages = [link.removesuffix(".md") for link in INDEX.links]
    assert [page for page in pages if f" <{page}>\n" not in parts] == []


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ('<img src="//cdn.example.com/a.png">', "a.html loads //cdn.example.com/a.png"),
        ('<link href="https://fonts.example.com/f.css">', "loads https://fonts.example.com"),
        ('<img src="a.png">', "a.html lacks a.png"),
        ('<a href="b.html">', "a.html leads to b.html"),
        ('<a href="#there">', "a.html leads to #there"),
        ('<a href="a.html#there">', "a.html leads to a.html#there"),
        ('<p id="here"><a href="a.html#here"><a href="https://example.com/">', ""),
    ],
)
def test_what_a_page_may_not_hold_is_seen(tmp_path: Path, page: str, wrong: str) -> None:
    (tmp_path / "a.html").write_text(page)
    found = wrong_with_site(tmp_path)
    assert [wrong in one for one in found] == ([True] if wrong else [])


def test_what_a_style_asks_of_others_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("")
    (tmp_path / "a.css").write_text('@import "https://example.com/b.css"; p { background: url(c) }')
    assert wrong_with_site(tmp_path) == ["a.css loads https://example.com/b.css"]
