"""Whole pages in a real Chromium: until everything on them is there, as a person sees it."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.people.questions import Asker
from bench.people.visitors import PASSWORD
from infra.dev.chromium import find_chromium

LOOKS = 20
_LOADED_MS = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_MESSAGES = "a[href^='/messages/']"


def look(url: str, ca: Path, asker: Asker, pages: list[str]) -> list[dict[str, Any]]:
    """Milliseconds of each page, and of the first message that is listed."""
    found = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**found.options(ca))
        page = browser.new_context(base_url=url).new_page()
        _sign_in(page, asker)
        page.goto("/messages")
        first = page.locator(_MESSAGES).first.get_attribute("href") or "/messages"
        looks = [_look(page, asker, path) for path in pages]
        looks.append(_look(page, asker, first) | {"what": "/messages/…"})
        browser.close()
    return looks


def _sign_in(page: Page, asker: Asker) -> None:
    page.goto(f"/d/{asker.viewer.domain}/login")
    page.get_by_label("Name", exact=True).fill(asker.viewer.name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda address: "login" not in address)


def _look(page: Page, asker: Asker, path: str) -> dict[str, Any]:
    times = []
    for _ in range(LOOKS):
        page.goto(path, wait_until="load")
        page.wait_for_function(f"{_LOADED_MS} > 0")
        times.append(float(page.evaluate(_LOADED_MS)))
    times.sort()
    return {
        "who": asker.words,
        "what": path,
        "looks": LOOKS,
        "median_ms": round(times[LOOKS // 2], 1),
        "p95_ms": round(times[int(LOOKS * 0.95)], 1),
    }
