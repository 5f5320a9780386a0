"""Every page: in light and dark, on a desk and on a phone, for those who see badly, and quiet."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from fastapi.routing import APIRoute
from jinja2 import Environment
from playwright.sync_api import Browser, Page

from tests.acceptance.browser import pictures
from tests.acceptance.browser.axe import OF_COLOURS, OF_WIDTHS, Axe, in_words
from tests.acceptance.browser.chrome import DESK, PHONE, Visitor
from tests.acceptance.browser.harbour import Harbour
from tests.acceptance.browser.place import Place
from tests.acceptance.browser.places import PATHS_THAT_SHOW_NO_PAGE, PLACES
from tests.acceptance.portal.routes import CONTEXT, PORTAL_ROUTES

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
NARROWEST = (320, 640)


class Visitors:
    """One browser for each of those who go on the tour: signing in takes its time."""

    def __init__(self, chromium: Browser, harbour: Harbour) -> None:
        self._chromium, self._harbour = chromium, harbour
        self._known: dict[str | None, Visitor] = {}

    def of(self, who: str | None) -> Visitor:
        if who not in self._known:
            visitor = Visitor(self._chromium, self._harbour.site)
            if who:
                visitor.sign_in(getattr(self._harbour, who))
            self._known[who] = visitor
        return self._known[who]

    def leave(self) -> None:
        for visitor in self._known.values():
            visitor.context.close()


@pytest.fixture(scope="module")
def visitors(chromium: Browser, harbour: Harbour) -> Iterator[Visitors]:
    visitors = Visitors(chromium, harbour)
    yield visitors
    visitors.leave()


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Path | None:
    """Where pictures go, if somebody wants them."""
    wanted = request.config.getoption("--screenshots")
    return pictures.FOLDER if wanted else None


@pytest.mark.parametrize("place", PLACES, ids=[place.name for place in PLACES])
def test_it_is_good_to_look_at(
    visitors: Visitors, harbour: Harbour, place: Place, folder: Path | None
) -> None:
    visitor = visitors.of(place.who)
    visitor.troubles.clear()
    page = visitor.page
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    place.way(visitor, harbour)
    assert page.title().endswith(" · Gatepost")
    assert page.locator("h1").count() == 1
    here = page.locator("nav [aria-current]").count()
    assert here == (1 if place.menu and page.locator(".gp-menu").count() else 0)
    with Axe(page) as axe:
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found = axe.findings(OF_COLOURS if scheme == "dark" else None)
            assert not found, f"{scheme}: {in_words(found)}"
            if folder:
                pictures.take(page, folder, f"{place.name}-{scheme}")
        page.emulate_media(color_scheme="light")
        for width, height in (NARROWEST, PHONE):
            page.set_viewport_size({"width": width, "height": height})
            assert wider_than(page, width) == []
        found = axe.findings(OF_WIDTHS)
        assert not found, f"phone: {in_words(found)}"
        if folder:
            pictures.take(page, folder, f"{place.name}-phone")
    assert visitor.troubles == []


def wider_than(page: Page, width: int) -> list[str]:
    """What makes the page scroll sideways; nothing, if it doesn't."""
    if page.evaluate("document.documentElement.scrollWidth") <= width:
        return []
    wide: list[str] = page.evaluate(
        """width => [...document.body.querySelectorAll("*")]
        .filter(one => one.getBoundingClientRect().right > width)
        .map(one => one.outerHTML.slice(0, 120))""",
        width,
    )
    return wide or ["something outside of the body"]


def test_no_page_is_left_out() -> None:
    paths = {
        path
        for path, route in PORTAL_ROUTES
        if isinstance(route, APIRoute) and "GET" in (route.methods or ())
    }
    assert paths - PATHS_THAT_SHOW_NO_PAGE == {place.route for place in PLACES}
    environment = CONTEXT.pages.environment
    names = [one for one in environment.list_templates() if one.endswith(".html")]
    pages = {one for one in names if extends_base(environment, one)}
    assert pages == {place.template for place in PLACES}


def extends_base(environment: Environment, template: str) -> bool:
    """Whether it is a page; the others are parts of pages."""
    assert environment.loader
    source, *_ = environment.loader.get_source(environment, template)
    return source.startswith("{% extends")
