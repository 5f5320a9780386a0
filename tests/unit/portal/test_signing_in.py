"""Signing in and out: what the main server is told, what the browser keeps."""

from datetime import timedelta

import httpx
import pytest

from portal import cookies
from tests.unit.portal.browser import Browser

HOUR = timedelta(hours=1)


def cookies_of(answer: httpx.Response) -> dict[str, str]:
    pairs = [one.partition("=") for one in answer.headers.get_list("set-cookie")]
    return {name: rest for name, _, rest in pairs}


async def test_the_tokens_become_cookies_for_this_host_alone(browser: Browser) -> None:
    answer = await browser.sign_in()
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    kept = cookies_of(answer)
    assert kept.keys() == {cookies.ACCESS, cookies.REFRESH, cookies.FORM, cookies.DOMAIN}
    for name, rest in kept.items():
        assert name.startswith("__Host-")
        site = "Lax" if name == cookies.FORM else "Strict"
        assert f"; Path=/; Secure; HttpOnly; SameSite={site}" in rest, name
        assert "Domain" not in rest
        assert ("Max-Age" in rest) == (name == cookies.DOMAIN)


@pytest.mark.parametrize(
    ("path", "typed", "domain", "name"),
    [
        ("/login", "alice@example.com", "example.com", "alice"),
        ("/login", "root", "gatepost", "root"),
        ("/d/example.com/login", "alice", "example.com", "alice"),
        ("/d/example.com/login", "bob@other.example", "other.example", "bob"),
    ],
)
async def test_who_belongs_where(
    browser: Browser, path: str, typed: str, domain: str, name: str
) -> None:
    await browser.sign_in(path, name=typed)
    said = browser.main.said()
    assert (said["domain"], said["name"]) == (domain, name)
    assert said["address"] == "127.0.0.1"


async def test_a_browser_is_known_again_long_after_its_session(browser: Browser) -> None:
    """By what it was given when somebody signed in with it, or set a password by a link."""
    await browser.sign_in()
    assert browser.main.said()["browser"] is None
    tokens = {"access_token": browser.main.token(), "refresh_token": "r", "browser": "known"}
    browser.main.answers["POST /session"] = 200, tokens
    kept = cookies_of(await browser.sign_in())[cookies.BROWSER]
    assert kept == "known; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=15552000"
    await browser.send("/logout", page="/account")
    await browser.sign_in()
    assert browser.main.said()["browser"] == "known"
    new = "another walk in the rain"
    answer = await browser.send("/password/x", new=new, again=new)
    assert cookies_of(answer)[cookies.BROWSER].startswith("by a link;")


async def test_there_is_a_new_form_value_after_signing_in(browser: Browser) -> None:
    await browser.sign_in()
    before = browser.http.cookies[cookies.FORM]
    await browser.sign_in()
    assert browser.http.cookies[cookies.FORM] != before


async def test_a_wrong_password_is_told_and_the_name_stays(browser: Browser) -> None:
    browser.main.refuse("POST /session", 401, "wrong-credentials", "The name or so is wrong.")
    answer = await browser.sign_in(name='"><script>alert(1)</script>')
    assert answer.status_code == 401
    assert "The name or so is wrong." in answer.text
    assert "<script>" not in answer.text
    assert "&#34;&gt;&lt;script&gt;" in answer.text
    assert "a long walk" not in answer.text
    assert cookies.ACCESS not in cookies_of(answer)


async def test_who_must_wait_is_told_how_long(browser: Browser) -> None:
    browser.main.refuse("POST /session", 429, "too-many-tries", "Too many.", retry_after=7)
    answer = await browser.sign_in()
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert "again in 7 s" in answer.text


@pytest.mark.parametrize("path", ["/", "/account"])
async def test_nobody_is_sent_to_sign_in(browser: Browser, path: str) -> None:
    answer = await browser.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].partition("?")[0] == "/login"
    assert browser.main.calls() == []


async def test_a_token_that_is_over_is_replaced_on_the_way(browser: Browser) -> None:
    await browser.sign_in()
    await browser.get("/account")
    browser.http.cookies.set(cookies.ACCESS, browser.main.token(HOUR), "portal.example")
    answer = await browser.get("/account")
    assert answer.status_code == 200
    assert browser.main.calls()[-2:] == ["POST /session/refresh", "GET /session"]
    fresh = cookies_of(answer)
    assert fresh[cookies.REFRESH].startswith("fresh;")
    used = browser.main.heard[-1].headers["authorization"].removeprefix("Bearer ")
    assert fresh[cookies.ACCESS].startswith(f"{used};")


@pytest.mark.parametrize("ahead", [timedelta(seconds=7), HOUR, -HOUR])
async def test_a_portal_whose_clock_is_wrong_goes_by_the_main_servers(
    browser: Browser, ahead: timedelta
) -> None:
    browser.main.ahead = ahead
    await browser.keys.ask(browser.main_server)
    await browser.sign_in()
    assert (await browser.get("/account")).status_code == 200
    assert "POST /session/refresh" not in browser.main.calls()
    browser.http.cookies.set(cookies.ACCESS, browser.main.token(HOUR), "portal.example")
    await browser.get("/account")
    assert "POST /session/refresh" in browser.main.calls(), "a token that is over is"


async def test_while_both_count_the_refresh_token_stays(browser: Browser) -> None:
    await browser.sign_in()
    browser.http.cookies.set(cookies.ACCESS, "", "portal.example")
    tokens = {"access_token": browser.main.token(), "refresh_token": None}
    browser.main.answers["POST /session/refresh"] = 200, tokens
    assert cookies_of(await browser.get("/account")).keys() == {cookies.ACCESS}


@pytest.mark.parametrize("call", ["POST /session/refresh", "GET /session"])
async def test_a_session_that_is_over_is_forgotten(browser: Browser, call: str) -> None:
    await browser.sign_in()
    browser.http.cookies.set(cookies.ACCESS, browser.main.token(HOUR), "portal.example")
    browser.main.refuse(call, 401, "not-signed-in")
    answer = await browser.get("/account")
    assert answer.headers["location"] == "/d/example.com/login?next=%2Faccount"
    assert browser.http.cookies.get(cookies.ACCESS) in (None, "")
    assert cookies.REFRESH not in browser.http.cookies


async def test_a_key_that_is_new_is_asked_for(browser: Browser) -> None:
    """The main server's key was replaced since we last asked."""
    await browser.sign_in()
    assert browser.keys.known == {}
    assert (await browser.get("/account")).status_code == 200
    assert browser.main.calls()[-3:] == ["POST /session/refresh", "GET /keys", "GET /session"]
    assert (await browser.get("/account")).status_code == 200
    assert browser.main.calls()[-1:] == ["GET /session"]


@pytest.mark.parametrize(
    ("path", "call"), [("/logout", "session"), ("/logout-everywhere", "sessions")]
)
async def test_to_sign_out_ends_it_at_the_main_server(
    browser: Browser, path: str, call: str
) -> None:
    await browser.sign_in()
    answer = await browser.send(path, page="/account")
    assert f"DELETE /{call}" in browser.main.calls()
    assert answer.headers["location"] == "/d/example.com/login?done=signed-out"
    assert cookies.ACCESS not in browser.http.cookies
    assert "You are signed out" in (await browser.get(answer.headers["location"])).text


async def test_a_new_password_must_be_typed_twice(browser: Browser) -> None:
    await browser.sign_in()
    filled = {"current": "old one", "new": "another walk in the rain"}
    answer = await browser.send("/account/password", page="/account", again="other", **filled)
    assert answer.status_code == 422
    assert "POST /password" not in browser.main.calls()
    filled["again"] = filled["new"]
    answer = await browser.send("/account/password", page="/account", **filled)
    assert answer.headers["location"] == "/d/example.com/login?done=password-set"
    assert browser.main.said() == {"current": "old one", "new": filled["new"]}


async def test_a_link_sets_a_password(browser: Browser) -> None:
    new = "another walk in the rain"
    answer = await browser.send("/password/s3cr3t-of-the-link", new=new, again=new)
    assert answer.headers["location"] == "/d/example.com/login?done=password-set"
    assert browser.main.said() == {"token": "s3cr3t-of-the-link", "new": new}
    assert "s3cr3t" not in str(browser.log.events), "the log names routes, not paths"
    browser.main.refuse("POST /password/reset", 403, "token-refused", "This link was used.")
    answer = await browser.send("/password/s3cr3t-of-the-link", new=new, again=new)
    assert (answer.status_code, "This link was used." in answer.text) == (403, True)


@pytest.mark.parametrize("domain", ["nowhere.example", "example.com"])
async def test_the_page_does_not_tell_which_domains_there_are(
    browser: Browser, domain: str
) -> None:
    answer = await browser.get(f"/d/{domain}/login")
    assert answer.status_code == 200
    assert browser.main.calls() == []


@pytest.mark.parametrize("domain", ["a b", "EXAMPLE", "%3Cb%3E", "x" * 129, "é"])
async def test_what_is_no_domain_is_not_found(browser: Browser, domain: str) -> None:
    assert (await browser.get(f"/d/{domain}/login")).status_code == 404
