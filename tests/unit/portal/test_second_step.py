"""The second step at the portal: where people are sent, what is shown once, and the picture."""

import re
from typing import Any

import pytest

from portal import cookies
from portal.pages.second_step import draw
from tests.unit.portal.browser import Browser

KEY, URI = "ABCD-EFGH", "otpauth://totp/Gatepost:alice@example.com?secret=ABCDEFGH"


def state(**given: Any) -> tuple[int, dict[str, Any]]:
    usual = {"on": False, "demanded": False, "recovery_codes_left": 0, "key": None, "uri": None}
    return 200, usual | given


@pytest.fixture
async def signed_in(browser: Browser) -> Browser:
    await browser.sign_in()
    await browser.get("/account")
    return browser


@pytest.mark.parametrize(
    ("slug", "page"),
    [("second-step-wanted", "/login/code"), ("second-step-missing", "/account/second-step")],
)
async def test_who_has_not_signed_in_whole_is_sent_there(
    signed_in: Browser, slug: str, page: str
) -> None:
    signed_in.main.refuse("GET /session", 403, slug)
    answer = await signed_in.get("/account")
    assert answer.status_code == 303
    assert answer.headers["location"].partition("?")[0] == page
    assert signed_in.http.cookies.get(cookies.ACCESS), "they are still on their way"


async def test_the_code_brings_another_session(signed_in: Browser) -> None:
    tokens = {"access_token": signed_in.main.token(), "refresh_token": "other"}
    signed_in.main.answers["POST /session/second-step"] = 200, tokens
    form = signed_in.http.cookies[cookies.FORM]
    answer = await signed_in.send("/login/code", code="123 456")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert signed_in.main.said() == {"code": "123 456", "address": "127.0.0.1"}
    assert signed_in.http.cookies[cookies.ACCESS] == tokens["access_token"]
    assert signed_in.http.cookies[cookies.REFRESH] == "other"
    assert signed_in.http.cookies[cookies.FORM] != form


async def test_a_wrong_code_is_told_and_is_not_repeated(signed_in: Browser) -> None:
    signed_in.main.refuse("POST /session/second-step", 422, "wrong-code", "Not right.")
    answer = await signed_in.send("/login/code", code="987654")
    assert (answer.status_code, "Not right." in answer.text) == (422, True)
    assert "987654" not in answer.text + str(signed_in.log.events)
    assert 'href="/messages"' not in answer.text, "no menu before it is given"
    signed_in.main.refuse(
        "POST /session/second-step", 429, "too-many-tries", "Too many.", retry_after=7
    )
    answer = await signed_in.send("/login/code", code="987654")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert "again in 7 s" in answer.text


async def test_nobody_gives_a_code_before_the_password(browser: Browser) -> None:
    for path in ("/login/code", "/account/second-step", "/account/second-step/key.svg"):
        answer = await browser.get(path)
        assert answer.status_code == 303
        assert answer.headers["location"].partition("?")[0] == "/login"


async def test_what_is_set_up_is_shown_as_picture_and_text_and_kept_by_nobody(
    signed_in: Browser,
) -> None:
    signed_in.main.answers["GET /second-step"] = state(key=KEY, uri=URI)
    page = await signed_in.get("/account/second-step")
    assert KEY in page.text
    assert 'src="/account/second-step/key.svg"' in page.text
    assert URI not in page.text
    picture = await signed_in.get("/account/second-step/key.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.headers["cache-control"] == page.headers["cache-control"] == "no-store"
    assert picture.content == draw(URI)
    signed_in.main.answers["GET /second-step"] = state(on=True)
    assert (await signed_in.get("/account/second-step/key.svg")).status_code == 404


def test_the_picture_has_nothing_inline_and_nothing_from_elsewhere() -> None:
    picture = draw(URI).decode()
    assert picture.startswith("<?xml")
    for wrong in ("style", "<script", "href", "onload", "ABCDEFGH"):
        assert wrong not in picture
    assert draw(URI) != draw(URI + "x")


async def test_recovery_codes_are_shown_once(signed_in: Browser) -> None:
    signed_in.main.answers["GET /second-step"] = state(key=KEY, uri=URI)
    signed_in.main.answers["POST /second-step/confirm"] = 200, {"codes": ["AAAA-BBBB", "CC-DD"]}
    answer = await signed_in.send(
        "/account/second-step/confirm", "/account/second-step", code="123456"
    )
    assert re.findall(r'<li class="gp-code">([^<]+)', answer.text) == ["AAAA-BBBB", "CC-DD"]
    assert answer.headers["cache-control"] == "no-store"
    assert "AAAA" not in str(signed_in.log.events)


async def test_who_must_set_one_up_has_no_menu_but_can_sign_out(signed_in: Browser) -> None:
    signed_in.main.answers["GET /second-step"] = state(demanded=True)
    page = await signed_in.get("/account/second-step")
    assert 'href="/messages"' not in page.text
    assert 'action="/logout"' in page.text
    assert "Nothing else can be done until then" in page.text


async def test_what_else_is_done_there(signed_in: Browser) -> None:
    signed_in.main.answers["GET /second-step"] = state(on=True, recovery_codes_left=2)
    page = "/account/second-step"
    assert "Make new ones soon" in (await signed_in.get(page)).text
    answer = await signed_in.send(f"{page}/off", page, code="123456")
    assert answer.headers["location"] == f"{page}?done=off"
    assert (await signed_in.send(f"{page}/other", page, code="1")).status_code == 404
    signed_in.main.refuse("POST /second-step/off", 422, "wrong-code", "Not right.")
    assert "Not right." in (await signed_in.send(f"{page}/off", page, code="1")).text


async def test_rights_are_changed_on_a_page_of_their_own(signed_in: Browser) -> None:
    user_id = "00000000-0000-0000-0000-000000000001"
    account = {"user_id": user_id, "name": "bob", "domain": "example.com", "role": "user"}
    account |= {"client_ids": ["example.com:a"], "created_at": "2026-11-18T10:00:00.000Z"}  # type: ignore[dict-item]
    account |= {"disabled_at": None, "last_login_at": None}  # type: ignore[dict-item]
    signed_in.main.answers[f"GET /users/{user_id}"] = 200, account
    page, path = f"/users/{user_id}", f"/users/{user_id}/rights"
    assert 'value="a"' in (await signed_in.get(page)).text
    answer = await signed_in.send(path, page, role="admin", clients="a, b")
    assert answer.headers["location"] == "/users?done=rights"
    assert signed_in.main.said() == {"role": "admin", "client_ids": ["a", "b"]}
    signed_in.main.refuse(f"POST {path}", 422, "invalid", "Not your own.")
    refused = await signed_in.send(path, page, role="admin", clients="<b>")
    assert (refused.status_code, "Not your own." in refused.text) == (422, True)
    assert "&lt;b&gt;" in refused.text
    assert (await signed_in.send(path, page, role="root", clients="")).status_code == 422
