"""What protects people's browsers: forms of ours alone, and headers on every answer."""

import re
from typing import Any

import httpx
import pytest

from portal import cookies
from portal.forms import MAX_BYTES
from tests.acceptance.portal.routes import PORTAL_ROUTES
from tests.unit.portal.browser import ASSETS, ORIGIN, Browser

SAME = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
VALUES = {"domain": "example.com", "client_id": "example.com:a", "token": "x"}
_HOLE = re.compile(r"\{(\w+)(?::\w+)?\}")
POSTS = sorted(
    _HOLE.sub(lambda hole: VALUES.get(hole[1], "ab" * 16), path)
    for path, route in PORTAL_ROUTES
    if "POST" in route.methods
)
"""As the application declares them, so that none is forgotten."""


def test_the_list_is_whole() -> None:
    for path in ("/login", "/users", f"/users/{'ab' * 16}/link", "/failed", "/account/password"):
        assert path in POSTS


async def refused(browser: Browser, path: str, **options: Any) -> bool:
    """Whether it is, and nobody has heard of it."""
    before = len(browser.main.heard)
    answer = await browser.http.post(path, **options)
    heard = [call for call in browser.main.calls()[before:] if call not in LOOKS]
    return answer.status_code == 403 and heard == []


LOOKS = ("POST /session/refresh", "GET /session", "GET /keys")


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://portal.example:8080"},
        {"origin": "https://portal.example"},
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "same-site"},
        {},
    ],
)
async def test_a_form_from_elsewhere_is_refused(
    browser: Browser, path: str, headers: dict[str, str]
) -> None:
    await browser.sign_in()
    form = browser.http.cookies[cookies.FORM]
    assert await refused(browser, path, data={"form": form, "name": "a"}, headers=headers)


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("form", [None, "", "guessed", "é"])
async def test_a_form_without_our_value_is_refused(
    browser: Browser, path: str, form: str | None
) -> None:
    await browser.sign_in()
    fields = {} if form is None else {"form": form}
    assert await refused(browser, path, data=fields | {"name": "a"}, headers=SAME)


async def test_an_empty_value_matches_no_missing_cookie(browser: Browser) -> None:
    assert await refused(browser, "/login", data={"form": "", "name": "a"}, headers=SAME)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"a=b", "text/plain", 415),
        (b"a=%ff", "application/x-www-form-urlencoded", 400),
        (b"\xff", "application/x-www-form-urlencoded", 400),
        (b"a=" + b"x" * MAX_BYTES, "application/x-www-form-urlencoded", 413),
        (b"&".join(b"a=1" for _ in range(99)), "application/x-www-form-urlencoded", 400),
    ],
)
async def test_what_is_no_form_is_refused(
    browser: Browser, body: bytes, kind: str, status: int
) -> None:
    headers = SAME | {"content-type": kind}
    answer = await browser.http.post("/login", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


async def answers(browser: Browser) -> list[httpx.Response]:
    """One of each kind."""
    found = [await browser.sign_in()]
    found += [await browser.get(path) for path in ("/", "/login", "/account", "/nothing")]
    found.append(await browser.http.put("/login"))
    found.append(await browser.http.post("/login"))
    found.append(await browser.get(found[2].text.partition('stylesheet" href="')[2].split('"')[0]))
    browser.main.away = True
    found.append(await browser.get("/account"))
    browser.main.away = False
    browser.main.answers["GET /session"] = 200, []
    found.append(await browser.get("/account"))
    return found


async def test_every_answer_forbids_what_no_page_of_ours_needs(browser: Browser) -> None:
    found = await answers(browser)
    assert {one.status_code for one in found} >= {200, 303, 403, 404, 405, 503}
    for answer in found:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["strict-transport-security"]
        assert answer.headers["x-request-id"]


async def test_pages_are_kept_by_nobody_and_files_for_good(browser: Browser) -> None:
    """Redirects neither: a cookie may be in them."""
    found = await answers(browser)
    files = [one for one in found if str(one.url.path).startswith("/static/")]
    assert [one.headers["cache-control"] for one in files] == [
        "public, max-age=31536000, immutable"
    ]
    others = [one for one in found if one not in files]
    assert any("set-cookie" in one.headers and one.is_redirect for one in others)
    assert {one.headers["cache-control"] for one in others} == {"no-store"}
    assert (await browser.get("/static/nothing.css")).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/login", "/account", "/nothing", "/account/second-step"])
async def test_who_asks_for_heads_alone_is_told_them(browser: Browser, path: str) -> None:
    await browser.sign_in()
    page, head = await browser.get(path), await browser.http.head(path)
    assert (head.status_code, head.content) == (page.status_code, b"")
    for name in ("content-type", "content-length", "cache-control", "content-security-policy"):
        assert head.headers[name] == page.headers[name]


async def test_no_stream_is_begun_for_its_head(browser: Browser) -> None:
    await browser.sign_in()
    head = await browser.http.head("/overview/stream")
    assert (head.status_code, head.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1.0, gzip;q=0.8", True),
        ("GZIP", True),
        ("", False),
        ("br", False),
        ("x-gzip", False),
        ("gzip;q=0", False),
        ("br, gzip; q=0.000", False),
    ],
)
async def test_files_are_packed_for_those_who_want_it(
    browser: Browser, accepted: str, packed: bool
) -> None:
    headers = {"accept-encoding": accepted}
    file = await browser.http.get(ASSETS.style.path, headers=headers)
    assert (file.headers.get("content-encoding") == "gzip") is packed
    assert file.content == ASSETS.style.content
    assert file.headers["vary"] == "accept-encoding"


async def test_nothing_is_inline(browser: Browser) -> None:
    for answer in await answers(browser):
        if answer.headers.get("content-type", "").startswith("text/html"):
            for inline in ("<script", "<style", " style=", " onclick=", "javascript:"):
                assert inline not in answer.text


async def test_what_goes_wrong_is_told_in_plain_words(browser: Browser) -> None:
    await browser.sign_in()
    browser.main.away = True
    browser.http.cookies.set(cookies.ACCESS, browser.main.token(), "portal.example")
    answer = await browser.get("/account")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert "The main server can&#39;t be asked just now." in answer.text
    assert answer.headers["x-request-id"] in answer.text
    assert cookies.REFRESH in browser.http.cookies, "nobody is signed out by it"
