"""With nothing but a keyboard: what has the focus is seen, and everything is reached."""

from typing import Any
from uuid import uuid4

from playwright.sync_api import Browser, Page, expect

from tests.acceptance.browser.chrome import PHONE, Visitor
from tests.acceptance.browser.harbour import DOMAIN, NUMBER, Harbour
from tests.integration.main_server.new_people import PASSWORD

FOCUSED = """() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    const style = getComputedStyle(one);
    return {
        what: one === document.body ? "" : one.id || one.innerText || one.name || one.href,
        outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
        inside: box.left >= 0 && box.right <= innerWidth && box.bottom > 0 && box.top < innerHeight,
    }}"""
MOST_STEPS = 60
REACHABLE = """() => [...document.querySelectorAll("a[href], button, input, select, textarea")]
    .filter(one => one.type !== "hidden" && !one.hidden && !one.disabled).length"""


def pressed(page: Page, key: str = "Tab") -> dict[str, Any]:
    page.keyboard.press(key)
    found: dict[str, Any] = page.evaluate(FOCUSED)
    return found


def to(page: Page, what: str) -> None:
    """From one thing to the next, until it is there: as who has no mouse."""
    for _ in range(MOST_STEPS):
        if pressed(page)["what"] == what:
            return
    raise AssertionError(f"{what} isn't reached by Tab")


def test_somebody_signs_in_searches_and_opens_a_message(
    chromium: Browser, harbour: Harbour
) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.goto(f"/d/{DOMAIN}/login")
        assert page.evaluate(FOCUSED)["what"] == "name", "one can type at once"
        page.keyboard.type(harbour.user.name)
        assert pressed(page)["what"] == "password"
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/messages")
        to(page, "number")
        page.keyboard.type(NUMBER)
        page.keyboard.press("Enter")
        page.wait_for_url("**/messages?sender=*")
        to(page, "Find")
        for _ in range(2):
            pressed(page)  # what takes filters away again
        assert "UTC" in pressed(page)["what"]
        page.keyboard.press("Enter")
        page.wait_for_url("**/messages/*-*")
        to(page, "Open it")
        page.keyboard.press("Enter")
        expect(page.locator("#body")).to_be_visible()


def test_somebody_is_added_without_a_mouse(chromium: Browser, harbour: Harbour) -> None:
    """Selects too: with the arrows; and out again by the menu."""
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.admin)
        to(page, "Users")
        page.keyboard.press("Enter")
        page.wait_for_url("**/users")
        to(page, "name")
        page.keyboard.type(f"k-{uuid4().hex[:8]}")
        to(page, "role")
        page.keyboard.press("ArrowDown")
        expect(visitor.field("Role")).to_have_value("admin")
        to(page, "Add")
        page.keyboard.press("Enter")
        visitor.says("It is shown here and now only")
        to(page, "link")
        assert visitor.field("The link").input_value().startswith(f"{visitor.url}/password/")
        to(page, "Sign out")
        page.keyboard.press("Enter")
        page.wait_for_url("**/login*")


def test_the_content_is_one_step_away(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.user)
        page.goto("/messages")
        first = pressed(page)
        assert (first["what"], first["inside"]) == ("Skip to the content", True)
        assert pressed(page, "Enter")["what"] == "content"
        assert pressed(page)["what"] == "first", "on from there, not from the menu"


def test_each_thing_is_reached_in_order_and_seen(chromium: Browser, harbour: Harbour) -> None:
    for size in ((1280, 800), PHONE):
        with Visitor(chromium, harbour.site, size=size) as visitor:
            page = visitor.sign_in(harbour.admin)
            for path in ("/messages", "/failed", "/users", "/account"):
                visitor.goto(path)
                reached = [pressed(page)]
                while len(reached) < 200 and (found := pressed(page))["what"]:
                    reached.append(found)
                assert len(reached) >= page.evaluate(REACHABLE), path
                for one in reached:
                    assert one["outline"] >= 2, one
                    assert one["inside"], one
