"""The list of people: a page of it, those who are looked for, and what follows."""

from urllib.parse import parse_qs, urlsplit

from tests.unit.portal.browser import ACCOUNT, Browser


async def test_who_is_looked_for_is_kept_from_page_to_page(browser: Browser) -> None:
    await browser.sign_in()
    found = {"accounts": [ACCOUNT], "next": "bob@example.com"}
    browser.main.answers["GET /users"] = 200, found
    page = (await browser.get("/users?name=%20a%26b")).text
    assert dict(browser.main.heard[-1].url.params) == {"name": "a&b"}
    following = page.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert parse_qs(urlsplit(following).query) == {"name": ["a&b"], "after": ["bob@example.com"]}
    browser.main.answers["GET /users"] = 200, {"accounts": []}
    page = (await browser.get(following)).text
    assert dict(browser.main.heard[-1].url.params) == {"name": "a&b", "after": "bob@example.com"}
    assert 'rel="next"' not in page
    assert "Nobody is called so." in page


async def test_tokens_come_in_pages_too(browser: Browser) -> None:
    await browser.sign_in()
    token = {
        "token": "ab" * 32,
        "identity": "x",
        "created_at": ACCOUNT["created_at"],
        "serial": None,
    }
    token |= {"expires_at": ACCOUNT["created_at"], "used_at": None, "withdrawn_at": None}
    browser.main.answers["GET /tokens"] = 200, {"tokens": [token], "next": "1-ab"}
    page = (await browser.get("/tokens")).text
    assert 'rel="next" href="/tokens?after=1-ab"' in page
    await browser.get("/tokens?after=1-ab")
    assert dict(browser.main.heard[-1].url.params)["after"] == "1-ab"


async def test_nobodys_own_time_zone_is_that_of_their_domain(browser: Browser) -> None:
    await browser.sign_in()
    page = (await browser.get("/account")).text
    assert '<option value="" selected>as in your domain (UTC)</option>' in page
    browser.main.answers["POST /time-zone"] = (
        200,
        {
            "access_token": browser.main.token(),
            "refresh_token": None,
        },
    )
    await browser.send("/account/time-zone", "/account", time_zone="")
    assert browser.main.said() == {"time_zone": None}
