"""axe-core looks at a page, in a world of its own beside the page's: what the page's policy forbids
stays forbidden there."""

import json
from collections.abc import Sequence
from importlib.resources import files
from types import TracebackType
from typing import Any, Self

from playwright.sync_api import Page

SOURCE = (files("axe_playwright_python") / "axe.min.js").read_text()
RUN = """
axe.run(document, %s).then(found => found.violations.map(one => ({
    impact: one.impact, rule: one.id, help: one.help,
    where: one.nodes.map(node => [node.html, node.failureSummary])})))
"""
OF_COLOURS = ("color-contrast",)
OF_WIDTHS = ("color-contrast", "scrollable-region-focusable", "target-size")


class Axe:
    """Of the page as it is loaded now."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        frame = self._session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        wanted = {"frameId": frame, "worldName": "axe"}
        self._world = self._session.send("Page.createIsolatedWorld", wanted)
        self._evaluate(SOURCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        self._session.detach()

    def findings(self, rules: Sequence[str] | None = None) -> list[Any]:
        """All of them, of these rules if some are named: minor ones annoy people, too."""
        options: dict[str, Any] = {"resultTypes": ["violations"]}
        if rules:
            options["runOnly"] = rules
        found: list[Any] = self._evaluate(RUN % json.dumps(options))
        return found

    def _evaluate(self, expression: str) -> Any:
        said = self._session.send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": self._world["executionContextId"],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")


def in_words(found: list[Any]) -> str:
    return json.dumps(found, indent=1)
