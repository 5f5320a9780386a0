"""What people do at the portal, in a real browser."""

import re
from uuid import uuid4

from playwright.sync_api import Browser, Page, expect

from gatepost.wire.people import UserRole
from tests.acceptance.browser.chrome import PHONE, Visitor
from tests.acceptance.browser.harbour import ATTEMPTS, BODY, DOMAIN, NUMBER, Harbour
from tests.acceptance.site import eventually
from tests.integration.main_server.new_people import PASSWORD

WHY = "the partner asks for it"
NEW = "another walk in the rain"


def listed(page: Page) -> set[str]:
    """The messages that a page has links to."""
    found = re.findall(r'href="/messages/([0-9a-f-]{36})"', page.content())
    return set(found)


def test_a_user_finds_a_message_and_opens_it(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.user)
        expect(page).to_have_title("Messages · Gatepost")
        visitor.field("Number").fill(NUMBER)
        visitor.field("Client").fill("tide-gauge")
        visitor.button("Find").click()
        page.wait_for_url("**/messages?client=tide-gauge&sender=*")
        assert NUMBER.strip("+") not in page.url
        assert harbour.delivered[0] in listed(page)
        assert harbour.retried not in listed(page), "it is another client's"
        visitor.field("Status").select_option("failed")
        visitor.button("Find").click()
        page.wait_for_url("**status=failed**")
        assert harbour.failed[0] in listed(page)
        assert harbour.failed[1] not in listed(page), "it is of a client that isn't theirs"
        visitor.goto(f"/messages/{harbour.delivered[0]}")
        assert BODY not in page.content()
        visitor.button("Open it").click()
        expect(page.locator("#body")).to_have_text(BODY)
        page.reload()
        visitor.goto(f"/messages/{harbour.delivered[0]}")
        assert BODY not in page.content(), "it was in that one answer alone"
        visitor.goto(f"/messages/{harbour.failed[1]}", 404)


def test_an_administrator_says_why_and_reads(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.goto(f"/messages/{harbour.delivered[0]}")
        visitor.button("Open it").click()
        expect(page.get_by_role("alert")).to_contain_text("say why you open")
        visitor.field("Why you open it").fill(WHY)
        visitor.button("Open it").click()
        expect(page.locator("#body")).to_have_text(BODY)


def test_why_a_message_is_late_is_seen_in_one_look(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.user)
        visitor.field("Id").fill(harbour.retried)
        visitor.field("Id").press("Enter")
        page.wait_for_url(f"**/messages/{harbour.retried}")
        why = page.locator("p.lead")
        expect(why).to_contain_text("It waits for its next attempt, which is due in")
        expect(why).to_contain_text(f"It was tried {ATTEMPTS} times")
        steps = page.locator(".gp-timeline li > :first-child")
        said = [one.partition(" trouble")[0] for one in steps.all_inner_texts()]
        assert [one for one in said if one.startswith("Attempt")] == [
            f"Attempt {number}" for number in range(1, ATTEMPTS + 1)
        ]
        assert said[-1].startswith("Next attempt")


def test_what_failed_is_redriven_and_delivered(chromium: Browser, harbour: Harbour) -> None:
    one, *others = harbour.send("pilot-office", 3)
    harbour.site.wait_delivered(one, *others)
    for message_id in (one, *others):
        harbour.fail(message_id, "expired")
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.goto("/failed?reason=expired")
        page.locator(f"input[name='message-{one}']").check()
        visitor.button("Redrive the chosen").click()
        expect(page.get_by_role("status")).to_contain_text("Redriven: 1.")
        visitor.goto("/failed?reason=expired")
        visitor.button("Redrive all that match…").click()
        expect(page.locator("h1")).to_have_text("Redrive 2 messages?")
        visitor.field("Messages a second").fill("50")
        visitor.button("Redrive them").click()
        expect(page.get_by_role("status")).to_contain_text("It is under way")
        harbour.site.wait_delivered(one, *others, seconds=60)
        visitor.goto(f"/messages/{one}")
        expect(page.locator("p.lead")).to_contain_text("after it was redriven once")

        def over() -> bool:
            visitor.goto("/failed")
            return page.get_by_text("2 of 2").count() > 0

        eventually(over, "it is over")


def test_somebody_is_added_signed_out_and_disabled(chromium: Browser, harbour: Harbour) -> None:
    name = f"new-{uuid4().hex[:8]}"
    site = harbour.site
    with Visitor(chromium, site) as admin, Visitor(chromium, site, size=PHONE) as somebody:
        page = admin.sign_in(harbour.admin)
        admin.link("Users").click()
        admin.field("Name").fill(name)
        admin.field("Clients").fill("tide-gauge")
        admin.button("Add").click()
        link = admin.field("The link").input_value()
        somebody.goto(link)
        somebody.field("New password").fill(NEW)
        somebody.field("The same again").fill(NEW)
        somebody.button("Set password").click()
        somebody.says("Your new password is set")
        somebody.sign_in_as(DOMAIN, name, NEW)
        admin.goto("/users")
        admin.button(f"Sign out: {name}").click()
        expect(page.get_by_role("status")).to_contain_text("Every session")
        assert not somebody.is_in()
        somebody.sign_in_as(DOMAIN, name, NEW)
        admin.button(f"Disable: {name}").click()
        expect(page.get_by_role("status")).to_contain_text("disabled")
        assert not somebody.is_in()


def test_a_while_after_signing_in_it_is_asked_whether_it_is_still_them(
    chromium: Browser, harbour: Harbour
) -> None:
    user = harbour.person(f"old-{uuid4().hex[:8]}", UserRole.ADMIN)
    name = f"new-{uuid4().hex[:8]}"
    with Visitor(chromium, harbour.site, scripts=False) as visitor:
        visitor.sign_in(user)
        harbour.make_stale(user)
        visitor.goto("/users")
        visitor.field("Name").fill(name)
        visitor.field("Clients").fill("tide-gauge")
        visitor.button("Add").click()
        visitor.field("Your password").fill("not mine")
        visitor.button("Go on").click()
        visitor.says("Your present password is another one.")
        visitor.field("Your password").fill(PASSWORD)
        visitor.button("Go on").click()
        visitor.says(f"A link for {name}")
        visitor.goto("/users")
        visitor.button(f"Link for a password: {name}").click()
        visitor.says(f"A link for {name}")


def test_a_link_in_a_mail_leads_to_the_page_and_signs_nobody_out(
    chromium: Browser, harbour: Harbour
) -> None:
    path = f"/messages/{harbour.delivered[0]}"
    with Visitor(chromium, harbour.site) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.from_elsewhere(path)
        visitor.link("there").click()
        page.wait_for_url(f"**{path}")
        expect(page.locator("h1")).not_to_have_text("Going on…")
        assert visitor.is_in()
    with Visitor(chromium, harbour.site) as nobody:
        nobody.from_elsewhere(path)
        nobody.link("there").click()
        nobody.page.wait_for_url("**/login?next=*")
        nobody.field("Name").fill(f"{harbour.admin.name}@{DOMAIN}")
        nobody.field("Password").fill(PASSWORD)
        nobody.button("Sign in").click()
        nobody.page.wait_for_url(f"**{path}")


def test_who_signs_out_everywhere_is_out_everywhere(chromium: Browser, harbour: Harbour) -> None:
    user = harbour.person(f"two-{uuid4().hex[:8]}", UserRole.USER, "tide-gauge")
    site = harbour.site
    with Visitor(chromium, site) as here, Visitor(chromium, site, dark=True) as there:
        here.sign_in(user)
        there.sign_in(user)
        here.account().click()
        here.button("Sign out everywhere").click()
        here.says("You are signed out.")
        assert not there.is_in()
        assert not here.is_in()


def test_it_all_works_without_scripts(chromium: Browser, harbour: Harbour) -> None:
    with Visitor(chromium, harbour.site, scripts=False) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.link("Messages").click()
        visitor.field("Number").fill(NUMBER)
        visitor.button("Find").click()
        page.wait_for_url("**/messages?sender=*")
        page.locator(f"a[href='/messages/{harbour.delivered[0]}']").click()
        visitor.field("Why you open it").fill(WHY)
        visitor.button("Open it").click()
        expect(page.locator("#body")).to_have_text(BODY)
        visitor.link("Failed messages").click()
        visitor.button("Redrive all that match…").click()
        expect(page.locator("h1")).to_contain_text("Redrive ")
        visitor.link("Users").click()
        visitor.button("Sign out").click()
        visitor.says("You are signed out.")
