"""Pictures of pages, for people who look them over and for the documents.

`./dev test tests/acceptance/browser --screenshots` takes them all, into a folder that isn't kept;
those that documents show go beside them, the upper part of each.
"""

from pathlib import Path

from playwright.sync_api import FloatRect, Page

from infra.dev.paths import ROOT, VAR
from tests.acceptance.browser.chrome import DESK

FOLDER = VAR / "screenshots"
DOCUMENTS = ROOT / "docs" / "images"
SHOWN = {
    "overview-root-light": "overview",
    "messages-admin-light": "messages",
    "message-retried-dark": "message-dark",
    "failed-light": "failed",
    "messages-phone": "phone",
}
"""Those of the documents, and their names there."""
HEAD: FloatRect = {"x": 0, "y": 0, "width": DESK[0], "height": 660}


def take(page: Page, folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    page.screenshot(path=folder / f"{name}.png", full_page=True, animations="disabled")
    if name in SHOWN:
        page.screenshot(path=DOCUMENTS / f"{SHOWN[name]}.png", clip=HEAD, animations="disabled")
