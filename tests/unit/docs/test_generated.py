"""Pages that programs write say what the code says."""

from infra.dev.paths import ROOT
from infra.site.generated import pages, written

PAGES = pages()


def test_they_are_fresh() -> None:
    old = [name for name, text in PAGES.items() if (ROOT / name).read_text("utf-8") != text]
    assert old == [], "./dev docs --write"


def test_none_is_left_of_what_is_no_more() -> None:
    assert [name for name in written() if name not in PAGES] == [], "./dev docs --write"
