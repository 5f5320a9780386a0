"""An authenticator on somebody's phone."""

from base64 import b32decode
from datetime import UTC, datetime

from playwright.sync_api import expect

from main_server.people.second_step import codes
from tests.acceptance.browser.chrome import Visitor

PAGE = "/account/second-step"


def begin(visitor: Visitor) -> bytes:
    """The key, as it is typed from the page into a phone."""
    visitor.goto(PAGE)
    visitor.button("Set up an authenticator").click()
    key = visitor.page.locator("#key").inner_text()
    expect(visitor.page.get_by_alt_text("The key as a QR code", exact=False)).to_be_visible()
    return b32decode(key.replace("-", ""))


def turn_on(visitor: Visitor, secret: bytes) -> None:
    """Ends on the page with the recovery codes."""
    visitor.field("Code").fill(code_of(secret))
    visitor.button("Turn it on").click()
    visitor.says("They are shown here and now only.")


def code_of(secret: bytes, later: int = 0) -> str:
    """Of now, or of the next half minute: both are taken for half a minute at least."""
    return codes.code_at(secret, codes.step_at(datetime.now(UTC)) + later)
