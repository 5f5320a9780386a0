"""A real Chromium at the portal of a running stack, and what no page may do in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Request,
    Response,
    sync_playwright,
)

from infra.dev.chromium import find_chromium
from main_server.people.users.repository import User
from tests.acceptance.site import Site
from tests.integration.main_server.new_people import PASSWORD

PATIENCE_MS = 10_000
PHONE = (390, 844)
DESK = (1280, 800)
TELL_VIOLATIONS = """document.addEventListener("securitypolicyviolation", event =>
    console.error("against the policy:", event.violatedDirective, event.blockedURI))"""
_NO_SUCCESS = "Failed to load resource: the server responded with a status of "


@contextmanager
def open_chromium(site: Site) -> Iterator[Browser]:
    """For the tests of one module: while it runs, asyncio's loops can't in this thread."""
    options = find_chromium().options(Path(site.status["ca"]))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**options)
        yield browser
        browser.close()


class Visitor:
    """Somebody with a browser of their own. What goes wrong in it is told when they leave.

    That is: an error of a script or in the console, something against the policy, a dialog, a
    request to anywhere else.
    """

    def __init__(
        self,
        browser: Browser,
        site: Site,
        *,
        size: tuple[int, int] = DESK,
        dark: bool = False,
        scripts: bool = True,
    ) -> None:
        self.url = site.url("portal")
        self.context = browser.new_context(
            base_url=self.url,
            color_scheme="dark" if dark else "light",
            viewport={"width": size[0], "height": size[1]},
            java_script_enabled=scripts,
            reduced_motion="reduce",
            locale="en-GB",
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.add_init_script(TELL_VIOLATIONS)
        self.troubles: list[str] = []
        self._refused: set[str] = set()
        self.page = self.context.new_page()
        self._watch(self.page)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        self.context.close()
        assert kind or not self.troubles, self.troubles

    def goto(self, path: str, status: int = 200) -> Page:
        answer = self.page.goto(path)
        assert answer
        assert answer.status == status, self.page.inner_text("body")
        return self.page

    def sign_in(self, user: User) -> Page:
        return self.sign_in_as(user.domain, user.name, PASSWORD)

    def sign_in_as(self, domain: str, name: str, password: str) -> Page:
        self.give_password(domain, name, password)
        self.page.wait_for_url(lambda url: urlsplit(url).path in ("/messages", "/overview"))
        return self.page

    def give_password(self, domain: str, name: str, password: str) -> None:
        self.goto(f"/d/{domain}/login")
        self.field("Name").fill(name)
        self.field("Password").fill(password)
        self.button("Sign in").click()

    def from_elsewhere(self, path: str) -> None:
        """A page of another site, with a link `there` to one of ours, as in somebody's mail."""
        self.page.goto(f"data:text/html,<a href='{self.url}{path}'>there</a>")

    def field(self, label: str) -> Locator:
        return self.page.get_by_label(label, exact=True)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name: str) -> Locator:
        return self.page.get_by_role("link", name=name, exact=True)

    def account(self) -> Locator:
        """What leads there is their name."""
        return self.page.get_by_role("link", name="Account: ")

    def says(self, words: str) -> None:
        """Waits until the page does."""
        self.page.get_by_text(words).first.wait_for()

    def is_in(self) -> bool:
        self.page.goto("/account")
        return urlsplit(self.page.url).path == "/account"

    def _watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("dialog", self._dismiss)
        page.on("request", self._follow)
        page.on("response", self._answered)

    def _hear(self, message: ConsoleMessage) -> None:
        refused = message.text.startswith(_NO_SUCCESS) and _of(message) in self._refused
        if message.type in ("error", "warning") and not refused:
            self.troubles.append(f"console: {message.text} ({_of(message)})")

    def _dismiss(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _follow(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/", "data:")):
            self.troubles.append(f"request: {request.url}")

    def _answered(self, response: Response) -> None:
        """That a page is about a refusal is no trouble; tests say which status they expect."""
        if response.status >= 400 and response.request.is_navigation_request():
            self._refused.add(response.url)


def _of(message: ConsoleMessage) -> Any:
    return message.location.get("url")
