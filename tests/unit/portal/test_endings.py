"""The banner: whose last certificate is over soon; and it never stands in the way of a page."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gatepost.clock import iso, to_ms
from gatepost.trust.expiry import stage_of
from gatepost.wire.people import UserRole
from main_server.ca.authority import utc_now
from tests.factories import Pki, identity
from tests.unit.portal.browser import Browser

SERIAL = "ab" * 16


def ending(**given: Any) -> dict[str, Any]:
    until = iso(to_ms(utc_now() + timedelta(days=5, hours=1)))
    whole = {"serial": SERIAL, "fingerprint": "f", "usage": None, "not_after": until, "days": 7}
    return whole | {"identity": "gatepost://example.com/client/abc"} | given


@pytest.mark.parametrize(
    ("left", "stage"),
    [
        (timedelta(seconds=-1), 0), (timedelta(), 0), (timedelta(seconds=1), 1),
        (timedelta(days=1), 1), (timedelta(days=1, seconds=1), 7), (timedelta(days=8), 30),
        (timedelta(days=30), 30), (timedelta(days=30, seconds=1), None),
    ],
)  # fmt: skip
def test_it_comes_closer_by_steps(left: timedelta, stage: int | None) -> None:
    now = utc_now()
    assert stage_of(now + left, now) == stage


async def shown(browser: Browser, role: UserRole, *endings: dict[str, Any]) -> str:
    browser.main.role = role
    browser.main.answers["GET /endings"] = 200, {"certificates": list(endings)}
    await browser.sign_in()
    return (await browser.get("/account")).text


async def test_an_administrator_sees_what_expires_on_every_page(browser: Browser) -> None:
    page = await shown(browser, UserRole.ADMIN, ending())
    assert "A certificate expires soon" in page
    assert f'href="/certificates/{SERIAL}"' in page
    assert "expires in 5 days" in page
    assert "alert-warning" in page


async def test_what_is_over_comes_first_and_is_red(browser: Browser) -> None:
    over = ending(not_after="2020-01-01T00:00:00.000Z", days=0, identity="gatepost://a/client/b")
    page = await shown(browser, UserRole.ADMIN, *[ending()] * 4, over)
    assert "5 certificates expire soon, or have expired" in page
    assert page.index("gatepost://a/client/b") < page.index("gatepost://example.com/client/abc")
    assert "and 2 more" in page
    assert "alert-danger" in page


async def test_a_user_is_not_bothered(browser: Browser) -> None:
    assert "What expires" not in await shown(browser, UserRole.USER, ending())
    assert "GET /endings" not in browser.main.calls()


async def test_a_page_is_there_without_its_banner(browser: Browser) -> None:
    browser.main.role = UserRole.ADMIN
    browser.main.refuse("GET /endings", 503, "unavailable")
    await browser.sign_in()
    page = await browser.get("/account")
    assert (page.status_code, "What expires" in page.text) == (200, False)


async def test_what_this_portal_shows_is_looked_at_in_its_own_files(tmp_path: Path) -> None:
    pki = Pki(tmp_path)
    soon, later = pki.issue(identity()), pki.issue(identity(), lifetime=timedelta(days=40))
    half = tmp_path / "half.pem"
    half.write_text("-----BEGIN")
    files = (soon.cert, later.cert, half, tmp_path / "missing.pem")
    page = await shown(Browser(own=files), UserRole.SUPER_ADMIN)
    assert f"this portal, {soon.cert.name} expires in" in page
    assert later.cert.name not in page
    known = ending(
        fingerprint=soon.certificate.fingerprint, identity="gatepost://gatepost/portal/portal-1"
    )
    page = await shown(Browser(own=files), UserRole.SUPER_ADMIN, known)
    assert "gatepost://gatepost/portal/portal-1" in page
    assert "this portal," not in page
    assert "this portal," not in await shown(Browser(own=files), UserRole.ADMIN)
