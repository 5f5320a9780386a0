"""The overview, left open: it goes on by itself, as long as whoever looks may see it."""

from urllib.parse import urlsplit
from uuid import uuid4

from playwright.sync_api import Browser, Page, expect

from gatepost.wire.people import UserRole
from tests.acceptance.browser.chrome import Visitor
from tests.acceptance.browser.harbour import Harbour
from tests.acceptance.site import eventually

MANY = 5
"""Few: other tests look for theirs on the first page of lists."""
STATE = "#live-state"


def in_all(page: Page, part: str) -> int:
    """How many the card counts; by and by those of ten minutes ago are out of it."""
    words = page.locator(f"[data-part='{part}'] .form-text").inner_text()
    return int(words.partition(" in all")[0].replace(",", ""))


def test_figures_change_while_somebody_looks(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.goto("/overview")
        expect(page.locator(STATE)).to_have_text("Live")
        loaded: list[str] = []
        page.on("framenavigated", lambda frame: loaded.append(frame.url))
        before = {part: in_all(page, part) for part in ("accepted", "delivered")}
        drawn = page.locator("[data-part='accepted'] path").get_attribute("d")
        harbour.site.wait_delivered(*harbour.send("tide-gauge", MANY))

        def counted() -> bool:
            now = {part: in_all(page, part) for part in before}
            return all(count > before[part] for part, count in now.items())

        eventually(counted, "they are counted")
        assert page.locator("[data-part='accepted'] path").get_attribute("d") != drawn
        assert loaded == [], "nothing was loaded again"


def test_who_is_signed_out_elsewhere_is_told(chromium: Browser, harbour: Harbour) -> None:
    user, site = harbour.person(f"ole-{uuid4().hex[:8]}", UserRole.ADMIN), harbour.site
    with Visitor(chromium, site) as here, Visitor(chromium, site) as there:
        page = here.sign_in(user)
        here.goto("/overview")
        expect(page.locator(STATE)).to_have_text("Live")
        there.sign_in(user)
        there.account().click()
        there.button("Sign out everywhere").click()
        expect(page.locator(STATE)).to_contain_text("Not live any more: your session is over")
        page.reload()
        assert urlsplit(page.url).path.endswith("/login")


def test_without_scripts_each_load_shows_figures(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site, scripts=False) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.goto("/overview")
        expect(page.locator(STATE)).to_have_text("As it was when this page was loaded.")
        before = in_all(page, "accepted")
        harbour.send("tide-gauge", MANY)

        def counted() -> bool:
            visitor.goto("/overview")
            return in_all(page, "accepted") > before

        eventually(counted, "they are counted")
