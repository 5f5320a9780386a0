"""What nobody would type, in every field of every form and in every address: a page or a problem
that says so, and never that something went wrong here."""

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest

from gatepost.wire.people import UserRole
from portal.forms import FIELD
from tests.acceptance.portal.routes import PORTAL_ROUTES
from tests.unit.portal.browser import ORIGIN, Browser

VALUES = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"9" * 400,
    b"-1",
    b"nan",
    b"1e400",
    "\u0663\u00b2".encode(),
    b"0001-01-01",
    b"9999-12-31",
    b"2026-13-99",
    "\U0001f4a9'\"<\\".encode(),
    b"",
)
DEEP_TOKEN = urlsafe_b64encode(b'{"kid":' * 1_500).decode().rstrip("=") + ".e30.AAAA"
NAMES = re.compile(r'\bname="([a-z_-]+)"')
SIGNS_OUT = {"/logout", "/logout/everywhere"}


def fields_of_all_forms() -> list[str]:
    found = {"way", "state", "after", "before", "from", "to", "page"}
    for file in Path("portal").rglob("*.html"):
        found |= set(NAMES.findall(file.read_text("utf-8")))
    return sorted(found - {FIELD})


FIELDS = fields_of_all_forms()


def routes(method: str) -> Iterator[str]:
    for path, route in PORTAL_ROUTES:
        if method in (getattr(route, "methods", None) or ()) and path not in SIGNS_OUT:
            yield "/".join("nobody" if part.startswith("{") else part for part in path.split("/"))


@pytest.fixture
async def admin(browser: Browser) -> Browser:
    browser.main.role = UserRole.SUPER_ADMIN
    await browser.sign_in()
    return browser


def assert_no_fault(browser: Browser, status: int, what: object) -> None:
    assert status not in (500, 501), (what, browser.log.of("request.failed"))
    assert browser.log.of("request.failed") == [], what


async def test_no_address_is_answered_as_a_fault_of_ours(admin: Browser) -> None:
    for path in routes("GET"):
        for value in VALUES:
            query = "&".join(f"{name}={quote_from_bytes(value)}" for name in FIELDS)
            for whole in (
                f"{path}?{query}",
                path.replace("nobody", quote_from_bytes(value) or "a"),
            ):
                answer = await admin.http.get(whole)
                assert_no_fault(admin, answer.status_code, whole[:80])


async def test_no_form_is_answered_as_a_fault_of_ours(admin: Browser) -> None:
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    plain = headers | {"content-type": "application/x-www-form-urlencoded"}
    parted = headers | {"content-type": "multipart/form-data; boundary=x"}
    statuses = set()
    for path in routes("POST"):
        for value in VALUES:
            token = admin.http.cookies.get("__Host-form") or ""
            fields = {FIELD: token.encode()} | dict.fromkeys(FIELDS, value)
            body = "&".join(f"{name}={quote_from_bytes(one)}" for name, one in fields.items())
            parts = [
                b'--x\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (n.encode(), v)
                for n, v in fields.items()
            ]
            for said, told in ((body.encode(), plain), (b"".join([*parts, b"--x--"]), parted)):
                answer = await admin.http.post(path, content=said, headers=told)
                assert_no_fault(admin, answer.status_code, (path, value[:20]))
                statuses.add(answer.status_code)
    assert statuses >= {303, 400, 422}


async def test_no_cookie_is_answered_as_a_fault_of_ours(browser: Browser) -> None:
    for name in ("__Host-access", "__Host-refresh", "__Host-form", "__Host-browser"):
        for value in ("a.b.c", DEEP_TOKEN, "é", "\\", '"', "9" * 400):
            headers = [(b"cookie", f"{name}={value}".encode("latin-1"))]
            answer = await browser.http.get("/messages", headers=headers)
            assert_no_fault(browser, answer.status_code, name)
