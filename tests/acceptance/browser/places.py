"""Every page of the portal, and how somebody comes to it."""

from datetime import UTC, datetime
from uuid import uuid4

from playwright.sync_api import Route, expect

from gatepost.wire.people import UserRole
from main_server.people.users import links
from tests.acceptance.browser import places_of_holders, reports, second_step
from tests.acceptance.browser.chrome import Visitor
from tests.acceptance.browser.harbour import DOMAIN, Harbour
from tests.acceptance.browser.place import Place, at
from tests.integration.main_server.new_people import PASSWORD

WRONG_DAYS = "/messages?first=2030-01-01&last=2029-01-01"
PATHS_THAT_SHOW_NO_PAGE = {
    "/",
    "/static/{name}",
    "/overview/stream",
    "/account/second-step/key.svg",
}
"""One sends elsewhere, one has the style sheet, one goes on and on, one is a picture."""


def _wrong_password(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto(f"/d/{DOMAIN}/login")
    visitor.field("Name").fill("nobody-at-all")
    visitor.field("Password").fill("wrong")
    visitor.button("Sign in").click()
    visitor.says("The name or the password is wrong.")


def _link(visitor: Visitor, harbour: Harbour) -> None:
    user = harbour.person("edda", UserRole.USER, password=False)
    visitor.goto(f"/password/{links.make_link(harbour.site.engine, user, _now(), 'tester')}")


def _opened(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto(f"/messages/{harbour.delivered[0]}")
    visitor.field("Why you open it").fill("the partner asks for it")
    visitor.button("Open it").click()
    visitor.says("That you have read it is in the audit log.")


def _opened_without_reason(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto(f"/messages/{harbour.delivered[0]}")
    visitor.button("Open it").click()
    visitor.says("say why you open")


def _dry_run(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/failed")
    visitor.button("Redrive all that match…").click()
    visitor.says("Nothing has been changed yet.")


def _added(visitor: Visitor, harbour: Harbour) -> None:
    _add(visitor, "runa")
    visitor.says("It is shown here and now only")


def _add(visitor: Visitor, name: str) -> None:
    visitor.goto("/users")
    visitor.field("Name").fill(name)
    visitor.field("Clients").fill("pilot-office")
    visitor.button("Add").click()


def _taken_domain(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/domains")
    visitor.field("Name").fill(DOMAIN)
    visitor.button("Add").click()
    visitor.says("There is a domain of this name.")


def _checked(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/audit/check")
    visitor.button("Verify the chain now").click()
    visitor.says("entries are as they were written")


def _live(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/overview")
    expect(visitor.page.locator("#live-state")).to_have_text("Live")


def _reported(visitor: Visitor, harbour: Harbour) -> None:
    reports.publish(harbour.site.engine, DOMAIN)
    visitor.goto("/reports")
    visitor.says("From acceptance to delivery")


def _setting_up(visitor: Visitor, harbour: Harbour) -> bytes:
    """Somebody new, who looks at the key of an authenticator: that."""
    user = harbour.person(f"asta-{uuid4().hex[:6]}", UserRole.USER)
    visitor.context.clear_cookies()
    visitor.sign_in(user)
    return second_step.begin(visitor)


def _set_up(visitor: Visitor, harbour: Harbour) -> None:
    second_step.turn_on(visitor, _setting_up(visitor, harbour))


def _second_step(visitor: Visitor, harbour: Harbour) -> None:
    _set_up(visitor, harbour)
    visitor.goto("/account/second-step")
    visitor.says("10 of them are left")


def _asked_for_code(visitor: Visitor, harbour: Harbour) -> None:
    _set_up(visitor, harbour)
    name = (visitor.page.locator(".gp-who a").text_content() or "").removeprefix("Account: ")
    visitor.button("Sign out").click()
    visitor.field("Name").fill(name)
    visitor.field("Password").fill(PASSWORD)
    visitor.button("Sign in").click()
    visitor.page.wait_for_url("**/login/code*")
    visitor.field("Code of your authenticator, or a recovery code").fill("000 000")
    visitor.button("Go on").click()
    visitor.says("This code is not right.")


def _prove(visitor: Visitor, harbour: Harbour) -> None:
    user = harbour.person(f"kari-{uuid4().hex[:6]}", UserRole.ADMIN)
    visitor.context.clear_cookies()
    visitor.sign_in(user)
    harbour.make_stale(user)
    _add(visitor, "signy")
    visitor.says("Is it you?")


def _arriving(visitor: Visitor, harbour: Harbour) -> None:
    """By a link on a page of another site; then the page is held where it would go on."""
    asked = 0

    def hold(route: Route) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            route.continue_()
        else:
            route.fulfill(status=204)

    visitor.page.route("**/messages?status=failed", hold)
    visitor.from_elsewhere("/messages?status=failed")
    with visitor.page.expect_response(lambda answer: answer.status == 204):
        visitor.link("there").click()
    visitor.says("Going on")
    visitor.page.unroute("**/messages?status=failed", hold)


def _rights(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/users")
    visitor.page.get_by_role("rowheader").get_by_role("link").first.click()
    visitor.says("What they may")


def _now() -> datetime:
    return datetime.now(UTC)


PLACES = [
    Place("login", "/login", "login.html", None, at("/login")),
    Place("login-domain", "/d/{domain}/login", "login.html", None, at(f"/d/{DOMAIN}/login")),
    Place("login-out", "/login", "login.html", None, at("/login?done=signed-out")),
    Place("login-refused", "/d/{domain}/login", "login.html", None, _wrong_password),
    Place("set-password", "/password/{token}", "set_password.html", None, _link),
    Place("overview", "/overview", "overview.html", "admin", _live),
    Place("overview-root", "/overview", "overview.html", "root", _live),
    Place("messages", "/messages", "messages.html", "user", at("/messages")),
    Place("messages-admin", "/messages", "messages.html", "admin", at("/messages")),
    Place("messages-root", "/messages", "messages.html", "root", at("/messages")),
    Place("messages-none", "/messages", "messages.html", "user", at("/messages?last=2020-01-01")),
    Place("messages-wrong", "/messages", "messages.html", "user", at(WRONG_DAYS, 422)),
    Place(
        "message-delivered",
        "/messages/{message_id}",
        "message.html",
        "admin",
        at("/messages/{h.delivered[1]}"),
    ),
    Place(
        "message-retried",
        "/messages/{message_id}",
        "message.html",
        "admin",
        at("/messages/{h.retried}"),
    ),
    Place(
        "message-failed",
        "/messages/{message_id}",
        "message.html",
        "user",
        at("/messages/{h.failed[0]}"),
    ),
    Place("message-opened", "/messages/{message_id}", "message.html", "admin", _opened),
    Place(
        "message-no-reason",
        "/messages/{message_id}",
        "message.html",
        "admin",
        _opened_without_reason,
    ),
    Place("failed", "/failed", "failed.html", "admin", at("/failed")),
    Place("failed-none", "/failed", "failed.html", "admin", at("/failed?last=2020-01-01")),
    Place("redrive", "/failed", "redrive.html", "admin", _dry_run),
    Place("reports", "/reports", "reports.html", "admin", _reported),
    Place("reports-root", "/reports", "reports.html", "root", _reported),
    Place(
        "reports-wrong", "/reports", "reports.html", "admin", at("/reports?first=2019-01-01", 422)
    ),
    Place("users", "/users", "users.html", "admin", at("/users")),
    Place("users-root", "/users", "users.html", "root", at("/users")),
    Place("user-link", "/users", "user_link.html", "admin", _added),
    Place("domains", "/domains", "domains.html", "root", at("/domains")),
    Place("domains-admin", "/domains", "domains.html", "admin", at("/domains")),
    Place("domain", "/domains/{domain}", "domain.html", "root", at(f"/domains/{DOMAIN}")),
    Place("domain-admin", "/domains/{domain}", "domain.html", "admin", at(f"/domains/{DOMAIN}")),
    Place("domain-wrong", "/domains", "domains.html", "root", _taken_domain),
    Place("audit", "/audit", "audit.html", "root", at("/audit")),
    Place("audit-admin", "/audit", "audit.html", "admin", at("/audit")),
    Place("audit-none", "/audit", "audit.html", "admin", at("/audit?last=2021-01-01")),
    Place("audit-wrong", "/audit", "audit.html", "root", at("/audit?action=eaten", 422)),
    Place("audit-check", "/audit/check", "audit_check.html", "root", _checked),
    Place("user", "/users/{user_id}", "user.html", "admin", _rights),
    Place("prove", "/users", "prove.html", None, _prove),
    Place("arriving", "/messages", "arriving.html", None, _arriving, menu=False),
    Place("code", "/login/code", "code.html", None, _asked_for_code),
    Place("second-step-key", "/account/second-step", "second_step.html", None, _setting_up),
    Place("second-step", "/account/second-step", "second_step.html", None, _second_step),
    Place("recovery-codes", "/account/second-step", "recovery_codes.html", None, _set_up),
    Place("account", "/account", "account.html", "user", at("/account")),
    Place("problem", "/messages/{message_id}", "problem.html", "user", at("/nothing", 404), False),
    Place("forbidden", "/failed", "problem.html", "user", at("/failed", 403), False),
]
PLACES += places_of_holders.PLACES
