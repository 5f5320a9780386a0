"""Checks that the built site is whole: it asks no other host for anything, each link has its page.

Sphinx has checked the links of the pages; this looks at what a browser will be given.
"""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
_STYLE = re.compile(r"@import\s+[\"'](?P<name>[^\"']+)|url\(\s*[\"']?(?P<url>[^\"')\s]+)")


class Page(HTMLParser):
    """A page: what it loads, where it leads, and the places in it that can be led to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.places.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif LOADED.get(tag, "") in given:
            self.loaded.append(given[LOADED[tag]])


def wrong_with_site(folder: Path) -> list[str]:
    pages = {file: Page(file) for file in sorted(folder.resolve().rglob("*.html"))}
    found = [] if pages else [f"there is no page in {folder}"]
    for file, page in pages.items():
        name = file.relative_to(folder.resolve())
        found += [f"{name} loads {one}" for one in page.loaded if _is_foreign(one)]
        found += [f"{name} lacks {one}" for one in page.loaded if not _leads(one, file, pages)]
        found += [f"{name} leads to {one}" for one in page.links if not _leads(one, file, pages)]
    for style in sorted(folder.rglob("*.css")):
        text = style.read_text(encoding="utf-8")
        asked = [match["name"] or match["url"] for match in _STYLE.finditer(text)]
        found += [f"{style.relative_to(folder)} loads {one}" for one in asked if _is_foreign(one)]
    return found


def _is_foreign(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def _leads(link: str, file: Path, pages: Mapping[Path, Page]) -> bool:
    """Return whether a link within the site has its page, and the place in it."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if parts.fragment and target in pages:
        return unquote(parts.fragment) in pages[target].places
    return target.is_file()
