"""Where people go on to after signing in: to the page that they wanted, if it is one of ours."""

from urllib.parse import parse_qs, urlsplit

import pytest

from portal import cookies
from tests.unit.portal.browser import Browser

FROM_ELSEWHERE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}


@pytest.mark.parametrize("path", ["/account", "/messages?client=a&status=failed", "/users/ab"])
async def test_who_signs_in_gets_to_the_page_that_they_wanted(browser: Browser, path: str) -> None:
    sent = (await browser.get(path)).headers["location"]
    assert urlsplit(sent).path == "/login"
    assert parse_qs(urlsplit(sent).query) == {"next": [path]}
    answer = await browser.sign_in(sent)
    assert (answer.status_code, answer.headers["location"]) == (303, path)


async def test_by_the_code_as_well(browser: Browser) -> None:
    await browser.sign_in()
    browser.main.refuse("GET /session", 403, "second-step-wanted")
    sent = (await browser.get("/account")).headers["location"]
    assert sent == "/login/code?next=%2Faccount"
    tokens = {"access_token": browser.main.token(), "refresh_token": "fresh"}
    browser.main.answers["POST /session/second-step"] = 200, tokens
    answer = await browser.send(sent, code="123456")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example/",
        "/%5cevil.example\\",
        "///evil.example",
        "javascript:alert(1)",
        " /account",
        "/acc ount",
        "/account\r\nset-cookie: a=b",
        "/é",
        "account",
        "",
        "/logout",
        "/login?next=/login",
        "/password/s3cr3t",
        "/" + "x" * 3000,
    ],
)
async def test_what_is_no_page_of_ours_is_gone_to_by_nobody(browser: Browser, wanted: str) -> None:
    await browser.get("/login")
    form = browser.http.cookies[next(n for n in browser.http.cookies if "form" in n)]
    answer = await browser.http.post(
        "/login",
        params={"next": wanted},
        data={"form": form, "name": "alice", "password": "x"},
        headers={"origin": "https://portal.example:8080", "sec-fetch-site": "same-origin"},
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_the_page_to_sign_in_is_that_of_their_domain_when_it_is_known(
    browser: Browser,
) -> None:
    await browser.sign_in("/d/example.com/login", name="alice")
    browser.main.refuse("GET /session", 401, "not-signed-in")
    answer = await browser.get("/account")
    assert answer.headers["location"] == "/d/example.com/login?next=%2Faccount"
    assert browser.http.cookies.get(cookies.ACCESS) in (None, "")
    for forged in ("a b", "x" * 200, "../evil"):
        browser.http.cookies.set(cookies.DOMAIN, forged, "portal.example")
        browser.http.cookies.delete(cookies.DOMAIN, "portal.example", "/")
        browser.http.cookies.set(cookies.DOMAIN, forged, "portal.example")
        assert (await browser.get("/account")).headers["location"].startswith("/login")


async def test_a_form_of_a_session_that_is_over_says_so(browser: Browser) -> None:
    await browser.sign_in()
    browser.main.refuse("POST /time-zone", 401, "not-signed-in")
    answer = await browser.send("/account/time-zone", page="/account", time_zone="UTC")
    assert answer.headers["location"].endswith("/login?done=over")
    page = await browser.get(answer.headers["location"])
    assert "nothing was changed" in page.text


async def test_what_is_no_page_is_not_come_back_to(browser: Browser) -> None:
    """A picture or a stream, of a page whose session has ended."""
    for kind in ("image", "empty"):
        answer = await browser.http.get("/account", headers={"sec-fetch-dest": kind})
        assert answer.headers["location"] == "/login"


async def test_a_link_from_elsewhere_signs_nobody_out(browser: Browser) -> None:
    """Browsers show no cookie of ours with it; from a page of ours they do."""
    answer = await browser.http.get("/messages?status=failed", headers=FROM_ELSEWHERE)
    assert answer.status_code == 200
    assert 'content="0;url=/messages?status=failed"' in answer.text
    told = answer.headers.get_list("set-cookie")
    assert not any(one.startswith((cookies.ACCESS, cookies.REFRESH)) for one in told)
    from_ours = FROM_ELSEWHERE | {"sec-fetch-site": "same-origin"}
    answer = await browser.http.get("/messages", headers=from_ours)
    assert answer.status_code == 303
    await browser.sign_in()
    answer = await browser.http.get("/account", headers=FROM_ELSEWHERE)
    assert answer.status_code == 200, "where they are shown all the same"
    assert "http-equiv" not in answer.text


async def test_two_pages_to_sign_in_both_work(browser: Browser) -> None:
    """Opened at once, before there is any cookie; and one after somebody has signed in by the
    other."""

    def value_in(text: str) -> str:
        return text.partition('name="form" value="')[2].partition('"')[0]

    first = await browser.get("/login")
    kept = dict(browser.http.cookies)
    browser.http.cookies.clear()
    second = await browser.get("/login")
    for name, value in kept.items():
        browser.http.cookies.set(name, value, "portal.example")
    values = [value_in(first.text), value_in(second.text)]
    assert len(set(values)) == 2
    headers = {"origin": "https://portal.example:8080", "sec-fetch-site": "same-origin"}
    for value in values:
        data = {"form": value, "name": "alice", "password": "x"}
        answer = await browser.http.post("/login", data=data, headers=headers)
        assert answer.status_code == 303
    data = {"form": values[0], "time_zone": "UTC"}
    refused = await browser.http.post("/account/time-zone", data=data, headers=headers)
    assert refused.status_code == 403, "what was there before is good for signing in alone"


async def test_the_main_server_is_told_of_the_session_before(browser: Browser) -> None:
    await browser.sign_in()
    assert browser.main.said()["before"] is None
    await browser.sign_in()
    assert browser.main.said()["before"] == "fresh"
