"""What somebody has stored to do harm is shown as text: a visitor fails when a dialog opens, when a
script runs against the policy, and when anything is fetched from elsewhere."""

from uuid import uuid4

from playwright.sync_api import Browser, expect
from sqlalchemy import text

from gatepost.wire.people import UserRole
from main_server.store.database import transact
from tests.acceptance.browser.chrome import Visitor
from tests.acceptance.browser.harbour import DOMAIN, Harbour

ATTACKS = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)> '><svg/onload=alert(1)>",
    "</textarea></title><iframe src='javascript:alert(1)'></iframe>",
    "{{ 7 * 7 }} {% raw %} ${7*7} <b>bold</b> javascript:alert(1)",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'><style>*{display:none}</style>",
    "\u202egnp.exe\u202c \u0001 a\r\nSet-Cookie: a=b",
]
SHORT = "<img src=x onerror=alert(1)>"


def test_a_body_is_text(chromium: Browser, harbour: Harbour) -> None:
    sent = {body: harbour.send("tide-gauge", 1, body)[0] for body in ATTACKS}
    harbour.site.wait_delivered(*sent.values())
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.user)
        for body, message_id in sent.items():
            visitor.goto(f"/messages/{message_id}")
            visitor.button("Open it").click()
            shown = page.locator("#body")
            expect(shown).to_be_visible()
            assert shown.text_content() == body.replace("\r\n", "\n")
            assert page.locator("#body *").count() == 0


def test_names_and_reasons_are_text(chromium: Browser, harbour: Harbour) -> None:
    """Nobody can store such by our own ways; somebody who got at the ledger could."""
    (message_id,) = harbour.send("pilot-office", 1)
    harbour.site.wait_delivered(message_id)
    harbour.fail(message_id, SHORT)
    user = harbour.person(f"n-{uuid4().hex[:8]}", UserRole.USER)
    rename = text("UPDATE users SET name = :name WHERE name = :was AND domain = :domain")
    given = {"name": SHORT, "was": user.name, "domain": DOMAIN}
    transact(harbour.site.engine, lambda c: c.execute(rename, given))
    try:
        with Visitor(chromium, harbour.site) as visitor:
            page = visitor.sign_in(harbour.admin)
            for path in ("/users", "/failed", "/messages", f"/messages/{message_id}"):
                visitor.goto(path)
                expect(page.locator("main")).to_contain_text(SHORT)
    finally:
        again = text("UPDATE users SET name = :was WHERE name = :name AND domain = :domain")
        transact(harbour.site.engine, lambda c: c.execute(again, given))
        harbour.fail(message_id, "refused")


def test_what_people_give_as_a_reason_is_text(chromium: Browser, harbour: Harbour) -> None:
    """It stays in the audit log, which others read; a hold's stands on a page of its own."""
    (message_id,) = harbour.send("pilot-office", 1)
    harbour.site.wait_delivered(message_id)
    harbour.fail(message_id)
    opened, discarded, held, lifted = (
        f"{SHORT} {n} {uuid4().hex[:8]}" for n in ("a", "b", "c", "d")
    )
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.goto(f"/messages/{message_id}")
        visitor.field("Why you open it").fill(opened)
        visitor.button("Open it").click()
        visitor.says("That you have read it is in the audit log.")
        visitor.goto("/failed?reason=refused")
        page.locator(f"input[name='message-{message_id}']").check()
        visitor.field("Why they are discarded").fill(discarded)
        visitor.button("Discard the chosen").click()
        expect(page.get_by_role("status")).to_contain_text("Discarded: 1.")
        visitor.goto(f"/clients/{DOMAIN}:pilot-office/kept")
        visitor.field("Why").fill(held)
        visitor.button("Put on hold").click()
        expect(page.locator("main")).to_contain_text(held)
        visitor.field("Why it is lifted").fill(lifted)
        visitor.button("Lift it").click()
        visitor.goto("/audit")
        for words in (opened, discarded, held, lifted):
            expect(page.locator("main")).to_contain_text(words)
        assert page.locator("main img").count() == 0


def test_what_is_typed_comes_back_as_text(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.admin)
        for typed in ATTACKS[:3]:
            visitor.goto("/users")
            visitor.field("Name").fill(typed)
            visitor.field("Clients").fill(typed)
            visitor.button("Add").click()
            expect(page.get_by_role("alert")).to_be_visible()
            expect(visitor.field("Name")).to_have_value(typed)
        visitor.button("Sign out").click()
        visitor.field("Name").fill(ATTACKS[0])
        visitor.field("Password").fill("wrong")
        visitor.button("Sign in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(visitor.field("Name")).to_have_value(ATTACKS[0])
