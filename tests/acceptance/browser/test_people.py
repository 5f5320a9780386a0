"""What people do at the portal, in a real browser."""

from playwright.sync_api import Browser

from tests.acceptance.browser.chrome import Visitor
from tests.acceptance.browser.harbour import NUMBER, Harbour


def test_a_user_signs_in_finds_a_message_and_opens_it(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.user)
        assert page.title() == "Messages · Gatepost"
        visitor.field("Number").fill(NUMBER)
        visitor.button("Find").click()
        page.wait_for_url("**/messages?sender=*")
        assert NUMBER.strip("+") not in page.url
