"""How long messages are kept: what is set on its page, and legal holds."""

import pytest

from gatepost.wire.people import UserRole
from tests.unit.portal.browser import KEPT, Browser

CLIENT = "/clients/example.com:a/kept"
DOMAIN = "/domains/example.com/kept"
HOLD = {
    "hold": "0192-ab",
    "domain": "example.com",
    "client_id": None,
    "reason": "Case 4711",
    "set_by": "eve",
    "set_by_in_words": "eve at a shell",
    "set_at": "2026-11-18T10:00:00.000Z",
    "may_lift": True,
}


@pytest.fixture
async def eve(browser: Browser) -> Browser:
    browser.main.role = UserRole.SUPER_ADMIN
    client = KEPT | {"client_id": "example.com:a"}
    browser.main.answers |= {
        "GET /retention/clients/example.com:a": (200, client),
        "POST /retention/clients/example.com:a": (200, client | {"own_days": 60}),
        "POST /retention/clients/example.com:a/holds": (201, HOLD),
        "POST /retention/domains/example.com/holds": (201, HOLD),
        "POST /retention/holds/0192-ab/lift": (200, HOLD),
    }
    await browser.sign_in()
    return browser


async def test_what_goes_next_is_said(eve: Browser) -> None:
    page = (await eve.get(CLIENT)).text
    assert "30 days" in page
    assert "what was accepted on 2026-10-18 (UTC)" in page


@pytest.mark.parametrize(("typed", "said"), [("60", 60), ("", None)])
async def test_a_clients_days_are_set(eve: Browser, typed: str, said: int | None) -> None:
    answer = await eve.send(f"{CLIENT}/days", CLIENT, retention_days=typed)
    assert answer.headers["location"] == f"{CLIENT}?done=days"
    assert eve.main.said() == {"retention_days": said}


async def test_what_is_refused_is_said_on_the_page(eve: Browser) -> None:
    errors = [{"pointer": "/retention_days", "detail": "is between 6 and 3650"}]
    eve.main.refuse("POST /retention/clients/example.com:a", 422, "invalid", errors=errors)
    page = await eve.send(f"{CLIENT}/days", CLIENT, retention_days="5")
    assert page.status_code == 422
    assert "Retention days: is between 6 and 3650" in page.text
    assert "is a number" in (await eve.send(f"{CLIENT}/days", CLIENT, retention_days="x")).text


@pytest.mark.parametrize("place", [CLIENT, DOMAIN])
async def test_it_is_put_on_hold_and_the_hold_lifted(eve: Browser, place: str) -> None:
    answer = await eve.send(f"{place}/hold", place, reason="Case 4711")
    assert answer.headers["location"] == f"{place}?done=held"
    assert eve.main.said() == {"reason": "Case 4711"}
    asked = "GET /retention" + place.removesuffix("/kept")
    eve.main.answers[asked] = 200, KEPT | {"holds": [HOLD]}
    page = (await eve.get(place)).text
    assert "Case 4711" in page
    assert "nothing, as long as it is on hold" in page
    answer = await eve.send(f"{place}/lift", place, hold="0192-ab", reason="closed")
    assert answer.headers["location"] == f"{place}?done=lifted"
    assert eve.main.calls()[-1] == "POST /retention/holds/0192-ab/lift"


async def test_who_may_not_lift_it_is_told_who_may(eve: Browser) -> None:
    held = KEPT | {"holds": [HOLD | {"may_lift": False}]}
    eve.main.answers["GET /retention/domains/example.com"] = 200, held
    page = (await eve.get(DOMAIN)).text
    assert "Lift it" not in page
    assert "can lift it" in page


@pytest.mark.parametrize("path", ["/clients/x/kept", "/domains/a%2Fb/kept", "/domains/A/kept"])
async def test_an_address_is_taken_for_no_more_than_a_name(eve: Browser, path: str) -> None:
    assert (await eve.get(path)).status_code == 404
    assert not [one for one in eve.main.calls() if one.startswith("GET /retention")]


async def test_a_hold_is_meant_by_its_number_alone(eve: Browser) -> None:
    answer = await eve.send(f"{CLIENT}/lift", CLIENT, hold="../x", reason="closed")
    assert answer.status_code == 404
    assert not [one for one in eve.main.calls() if "lift" in one]
