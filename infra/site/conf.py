"""Sphinx's settings for the site of the documents (`./dev docs`).

The pages are plain Markdown that reads well on any Git host too, so nothing in them is Sphinx's
own: what it must know beyond that is made here, out of the pages themselves.
"""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

project = "Gatepost"
root_doc = "docs/index"
extensions = ["myst_parser"]
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md"]
exclude_patterns = ["var/**", "dist/**"]
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
html_theme = "furo"
html_title = "Gatepost"
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # it would fetch pages, which a browser forbids among files
html_extra_path = ["root"]
html_static_path = ["static"]
html_css_files = ["site.css"]

_SECTION = re.compile(r"^## (?P<caption>.+)\n(?P<text>(?:(?!## ).*\n?)*)", re.MULTILINE)
_ENTRY = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<page>[^)#\s]+)\.md\)", re.MULTILINE)
_FOLDER = re.compile(r"\]\((?P<folder>(?!https?:)[^)\s]+/)\)")
# Folders whose README stands for all that is in them, and whether it lists them itself.
FOLDERS = {
    "docs/decisions/README": ":maxdepth: 1",
    "docs/problems/README": ":hidden:",
}


def read_page(_app: Any, name: str, source: list[str]) -> None:
    """Have a link to a folder lead to its README, and make some pages the navigation."""
    here = (ROOT / name).parent
    source[0] = _FOLDER.sub(lambda link: _to_readme(here, link), source[0])
    if name == root_doc:
        source[0] += "".join(navigation(source[0]))
    elif name in FOLDERS:
        source[0] += _toctree(f"{FOLDERS[name]}\n:glob:\n\n*")


def navigation(index: str) -> list[str]:
    """Return the navigation: one part for each section of the list of documents, in its order."""
    return [
        _toctree(
            f":hidden:\n:caption: {section['caption']}\n\n"
            + "\n".join(f"{title} <{page}>" for title, page in _ENTRY.findall(section["text"]))
        )
        for section in _SECTION.finditer(index)
        if _ENTRY.search(section["text"])
    ]


def _toctree(text: str) -> str:
    return f"\n```{{toctree}}\n{text}\n```\n"


def _to_readme(here: Path, link: re.Match[str]) -> str:
    readme = here / link["folder"] / "README.md"
    return f"]({link['folder']}README.md)" if readme.exists() else link[0]


def setup(app: Any) -> None:
    app.connect("source-read", read_page)
