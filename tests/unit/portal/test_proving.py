"""A form that waits until who sent it has shown that it is them: nothing of it is lost, and it goes
nowhere else."""

import re
from html import unescape

import pytest

from tests.unit.portal.browser import ACCOUNT, ORIGIN, Browser

SAME = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
ADDED = {"name": "bob", "role": "user", "clients": 'a, "b" <c>\r\nd'}
LINK = {
    "account": ACCOUNT,
    "token": "s3cr3t",
    "expires_at": "2026-11-19T10:00:00.000Z",
}


def inputs(page: str) -> dict[str, str]:
    found = re.findall(r'<input[^>]*? name="([^"]*)"(?:[^>]*? value="([^"]*)")?', page)
    return {unescape(name): unescape(value) for name, value in found}


async def held_up(browser: Browser, slug: str = "password-wanted") -> dict[str, str]:
    """What the page holds that asks for a proof."""
    await browser.sign_in()
    browser.main.refuse("POST /users", 403, slug, "Give it first.")
    answer = await browser.send("/users", page="/account", **ADDED)
    assert answer.status_code == 403
    assert "Is it you?" in answer.text
    assert 'method="post"' in answer.text
    assert "action=" not in answer.text.partition("<main")[2], "it goes where the first one went"
    assert 'href="/users"' in answer.text
    return inputs(answer.text.partition("<main")[2])


async def test_what_was_sent_waits_on_the_page_and_goes_on(browser: Browser) -> None:
    fields = await held_up(browser)
    assert fields.keys() == {"form", "proof-password", *ADDED}
    assert fields | ADDED == fields
    browser.main.answers["POST /users"] = 201, LINK
    before = len(browser.main.heard)
    filled = fields | {"proof-password": "a long walk in the fog"}
    answer = await browser.http.post("/users", data=filled, headers=SAME)
    assert "https://portal.example:8080/password/s3cr3t" in answer.text
    acts = [one for one in browser.main.calls()[before:] if one.startswith("POST")]
    assert acts == ["POST /session/proof", "POST /users"]
    assert browser.main.said() == {
        "name": "bob",
        "role": "user",
        "client_ids": ["a", '"b"', "<c>", "d"],
    }
    proof = next(one for one in browser.main.heard if one.url.path.endswith("/session/proof"))
    assert b'"password":"a long walk in the fog"' in proof.content
    assert b'"address":"127.0.0.1"' in proof.content


async def test_a_wrong_one_is_asked_for_again_and_nothing_is_done(browser: Browser) -> None:
    fields = await held_up(browser)
    browser.main.refuse("POST /session/proof", 422, "invalid", "Your present one is another.")
    before = len(browser.main.heard)
    filled = fields | {"proof-password": "wrong"}
    answer = await browser.http.post("/users", data=filled, headers=SAME)
    assert answer.status_code == 422
    assert "Your present one is another." in answer.text
    assert "wrong" not in answer.text.partition("<main")[2]
    assert inputs(answer.text.partition("<main")[2]).keys() == fields.keys()
    assert "POST /users" not in browser.main.calls()[before:]


async def test_who_must_wait_is_told_how_long(browser: Browser) -> None:
    fields = await held_up(browser)
    browser.main.refuse("POST /session/proof", 429, "too-many-tries", "Too many.", retry_after=7)
    filled = fields | {"proof-password": "wrong"}
    answer = await browser.http.post("/users", data=filled, headers=SAME)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert "again in 7 s" in answer.text
    assert "proof-password" in inputs(answer.text.partition("<main")[2])


async def test_who_has_an_authenticator_is_asked_for_a_code(browser: Browser) -> None:
    fields = await held_up(browser, "code-wanted")
    assert "proof-code" in fields
    assert "proof-password" not in fields
    browser.main.refuse("POST /session/proof", 422, "wrong-code", "Not right.")
    answer = await browser.http.post("/users", data=fields | {"proof-code": "1"}, headers=SAME)
    assert "proof-code" in inputs(answer.text.partition("<main")[2])
    assert b'"code":"1"' in browser.main.heard[-1].content


@pytest.mark.parametrize("field", ["proof-password", "proof-code"])
async def test_a_proof_from_elsewhere_is_not_taken(browser: Browser, field: str) -> None:
    fields = await held_up(browser)
    before = len(browser.main.heard)
    for headers in ({"origin": "https://evil.example"}, {}):
        answer = await browser.http.post("/users", data=fields | {field: "x"}, headers=headers)
        assert answer.status_code == 403
    wrong = fields | {field: "x", "form": "guessed"}
    assert (await browser.http.post("/users", data=wrong, headers=SAME)).status_code == 403
    assert "POST /session/proof" not in browser.main.calls()[before:]


async def test_who_signs_in_shows_nothing_more(browser: Browser) -> None:
    await browser.sign_in(**{"proof-password": "x"})
    assert "POST /session/proof" not in browser.main.calls()
