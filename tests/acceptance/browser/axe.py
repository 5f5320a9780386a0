"""axe-core looks at a page, in a world of its own beside the page's: what the page's policy forbids
stays forbidden there."""

import json
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

SOURCE = (files("axe_playwright_python") / "axe.min.js").read_text()
RUN = """
;axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations.map(one => ({
    impact: one.impact, rule: one.id, help: one.help,
    where: one.nodes.map(node => [node.html, node.failureSummary])})))
"""


def findings(page: Page) -> list[Any]:
    """All of them: minor ones annoy people, too."""
    session = page.context.new_cdp_session(page)
    try:
        frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})
        said = session.send(
            "Runtime.evaluate",
            {
                "expression": SOURCE + RUN,
                "contextId": world["executionContextId"],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
    finally:
        session.detach()
    assert "exceptionDetails" not in said, said
    found: list[Any] = said["result"]["value"]
    return found


def in_words(found: list[Any]) -> str:
    return json.dumps(found, indent=1)
