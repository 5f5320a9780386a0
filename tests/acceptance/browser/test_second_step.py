"""Signing in with an authenticator, in a real browser."""

from uuid import uuid4

from playwright.sync_api import Browser, expect

from gatepost.wire.people import UserRole
from tests.acceptance.browser import second_step
from tests.acceptance.browser.chrome import PHONE, Visitor
from tests.acceptance.browser.harbour import Harbour
from tests.integration.main_server.new_people import PASSWORD

CODE = "Code of your authenticator, or a recovery code"


def test_who_has_set_one_up_is_asked_for_a_code(chromium: Browser, harbour: Harbour) -> None:
    user = harbour.person(f"totp-{uuid4().hex[:8]}", UserRole.ADMIN)
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(user)
        secret = second_step.begin(visitor)
        second_step.turn_on(visitor, secret)
        spare = page.locator("li.gp-code").first.inner_text()
        visitor.link("I have kept them").click()
    with Visitor(chromium, harbour.site, size=PHONE) as phone:
        page = phone.page
        phone.give_password(user.domain, user.name, PASSWORD)
        page.wait_for_url("**/login/code*")
        assert not phone.is_in(), "a password alone opens nothing"
        page.wait_for_url("**/login/code*")
        page.keyboard.type("000000")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("This code is not right")
        phone.field(CODE).fill(second_step.code_of(secret, 1))
        phone.field(CODE).press("Enter")
        page.wait_for_url("**/account")
        phone.button("Sign out").click()
        phone.give_password(user.domain, user.name, PASSWORD)
        phone.field(CODE).fill(spare)
        phone.button("Go on").click()
        page.wait_for_url("**/overview")
