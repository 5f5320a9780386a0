"""The pages of clients and certificates: what the main server is asked, and what becomes of what
people type. A key that was made is in one answer, and in no address."""

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from gatepost.wire.people import UserRole
from portal.forms import MAX_BYTES
from tests.unit.portal.browser import ORIGIN, Browser
from tests.unit.portal.holder_cases import CERTIFICATE, DETAIL, ISSUED, SERIAL

CLIENT_ID = "example.com:client_001"
NOW = "2026-11-18T10:00:00.000Z"
CSR = "-----BEGIN CERTIFICATE REQUEST-----\nMII\n-----END CERTIFICATE REQUEST-----"
KEY = "-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----\n"
CERT = CERTIFICATE | {
    "identity": "gatepost://example.com/client/client_001",
    "domain": "example.com",
    "name": "client_001",
    "not_after": "2099-01-01T00:00:00.000Z",
}
CLIENT = {
    "client_id": CLIENT_ID,
    "domain": "example.com",
    "name": "client_001",
    "rate_per_second": 100,
    "burst": 1000,
    "created_at": NOW,
    "disabled_at": None,
}
TOKEN = {
    "token": "cd" * 32,
    "identity": CERT["identity"],
    "serial": None,
    "created_at": NOW,
    "expires_at": "2099-01-01T00:00:00.000Z",
    "used_at": None,
    "withdrawn_at": None,
}
CHANGED = {
    "serials": [SERIAL],
    "tokens_withdrawn": 0,
    "dry_run": False,
    "revocation_number": 1,
    "redis_told": True,
}
DRY = CHANGED | {"dry_run": True, "redis_told": None, "revocation_number": None}
OWN = f"/certificates/{SERIAL}"
LOOKS = {"GET /endings", "GET /keys", "POST /session/refresh"}
"""What every page asks."""
BOUNDARY = "multipart/form-data; boundary=x"


@pytest.fixture
async def admin(browser: Browser) -> Browser:
    browser.main.role = UserRole.ADMIN
    made = ISSUED | {"identity": CERT["identity"], "not_after": CERT["not_after"], "key": KEY}
    browser.main.answers |= {
        "GET /certificates": (200, {"certificates": [CERT], "next": SERIAL}),
        f"GET {OWN}": (200, CERT | DETAIL),
        "POST /certs": (201, made),
        f"POST {OWN}/renew": (201, made),
        "POST /certificates/revoke": (200, DRY),
        "POST /certificates/hold": (200, CHANGED),
        "POST /certificates/release": (200, CHANGED | {"redis_told": False}),
        "GET /clients": (200, {"clients": [CLIENT], "next": None}),
        "POST /clients": (201, CLIENT),
        f"GET /clients/{CLIENT_ID}": (200, CLIENT),
        f"PATCH /clients/{CLIENT_ID}": (200, CLIENT),
        "GET /tokens": (200, {"tokens": [TOKEN]}),
        "POST /tokens": (
            201,
            {
                "token": "CANARY",
                "identity": CERT["identity"],
                "expires_at": NOW,
                "url": "http://pki.example:8002",
            },
        ),
    }
    await browser.sign_in()
    return browser


def asked(browser: Browser, call: str) -> dict[str, str]:
    heard = dict(zip(browser.main.calls(), browser.main.heard, strict=True))
    return dict(heard[call].url.params)


async def upload(
    browser: Browser, path: str, files: Mapping[str, Any] | None = None, **fields: Any
) -> httpx.Response:
    """As browsers send a form with a file in it, chosen or not."""
    form = browser.http.cookies["__Host-form"]
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    parts: dict[str, Any] = {name: (None, value) for name, value in fields.items()}
    parts = {"form": (None, form)} | parts | dict(files or {"request": ("", b"")})
    return await browser.http.post(path, files=parts, headers=headers)


async def test_the_list_is_narrowed_and_goes_on_where_it_ended(admin: Browser) -> None:
    page = await admin.get("/certificates?state=any&name=other.example:abc&expiring=7")
    assert page.status_code == 200
    assert asked(admin, "GET /certificates") == {
        "name": "abc",
        "domain": "other.example",
        "expiring_days": "7",
        "sorting": "expiry",
        "limit": "50",
    }
    following = (
        f"/certificates?state=any&amp;name=other.example%3Aabc&amp;expiring=7&amp;after={SERIAL}"
    )
    assert f'href="{following}"' in page.text
    await admin.get(f"/certificates?after={SERIAL}")
    assert asked(admin, "GET /certificates") == {
        "status": "active", "sorting": "expiry", "limit": "50", "after": SERIAL,
    }  # fmt: skip


@pytest.mark.parametrize("query", ["state=CANARY", "expiring=2", "role=CANARY"])
async def test_what_is_not_offered_is_not_asked(admin: Browser, query: str) -> None:
    before = len(admin.main.heard)
    page = await admin.get(f"/certificates?{query}")
    assert (page.status_code, "Choose one of the values" in page.text) == (422, True)
    assert set(admin.main.calls()[before:]) <= LOOKS


@pytest.mark.parametrize(
    "path",
    [
        "/certificates/x", "/certificates/..%2fclients", f"/certificates/{SERIAL.upper()}",
        "/clients/x", "/clients/é:a",
    ],
)  # fmt: skip
async def test_what_is_no_name_gets_into_no_path(admin: Browser, path: str) -> None:
    before = len(admin.main.heard)
    assert (await admin.get(path)).status_code == 404
    assert set(admin.main.calls()[before:]) <= LOOKS


async def test_who_looks_for_what_is_no_client_is_told_on_the_list(admin: Browser) -> None:
    page = await admin.get("/clients?find=%C3%A9")
    assert (page.status_code, "There is no such client." in page.text) == (404, True)
    assert f'href="/clients/{CLIENT_ID}"' in page.text
    assert 'id="find" name="find" value="é"' in page.text


@pytest.mark.parametrize("how", ["pasted", "uploaded"])
async def test_a_request_is_pasted_or_uploaded(admin: Browser, how: str) -> None:
    pasted, files = CSR, None
    if how == "uploaded":
        pasted, files = "", {"request": ("a.csr", CSR.encode() + b"\n")}
    typed: dict[str, Any] = {"way": "csr", "client": "client_001", "days": "30", "csr": pasted}
    page = await upload(admin, "/certificates/new", files, **typed)
    assert page.status_code == 200, page.text
    assert admin.main.said() == {
        "client_id": "client_001",
        "role": "client",
        "usage": None,
        "hosts": [],
        "days": 30.0,
        "csr": CSR,
        "pkcs12_password": None,
    }


async def test_a_key_that_was_made_is_in_one_answer(admin: Browser) -> None:
    page = await upload(admin, "/certificates/new", way="shown", client="client_001")
    assert (page.status_code, "CANARY" in page.text) == (200, True)
    assert page.headers["cache-control"] == "no-store"
    file = await upload(admin, "/certificates/new", way="file", client="client_001")
    assert file.text.startswith(KEY)
    assert file.headers["cache-control"] == "no-store"
    assert file.headers["content-disposition"] == 'attachment; filename="client_001.pem"'
    for heard in admin.log.heard:
        assert "CANARY" not in str(heard)
    assert all("CANARY" not in str(one.url) for one in admin.main.heard)


async def test_a_file_under_a_password_wants_it_twice(admin: Browser) -> None:
    fields: dict[str, Any] = {"way": "pkcs12", "client": "client_001", "password": "CANARY horse"}
    wrong = await upload(admin, "/certificates/new", **fields, again="other")
    assert (wrong.status_code, "Again: is not the same password" in wrong.text) == (422, True)
    assert "CANARY" not in wrong.text
    made = ISSUED | {"identity": CERT["identity"], "key": None}
    packed = base64.b64encode(b"\0packed").decode()
    admin.main.answers["POST /certs"] = 201, made | {"pkcs12": packed}
    file = await upload(admin, "/certificates/new", **fields, again=fields["password"])
    assert (file.content, file.headers["content-type"]) == (b"\0packed", "application/x-pkcs12")
    assert 'filename="client_001.p12"' in file.headers["content-disposition"]
    assert admin.main.said()["pkcs12_password"] == "CANARY horse"
    assert "CANARY" not in str(admin.log.heard)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"way": "csr"}, "paste it, or choose its file"),
        ({"way": "CANARY"}, "Choose how it is given"),
        ({"way": "shown", "csr": CSR}, "A request brings a key of its own"),
        ({"way": "shown", "days": "x"}, "Days: is a whole number"),
        ({"way": "shown", "role": "CANARY"}, "Role: is one of those that are offered"),
    ],
)
async def test_what_cannot_be_issued_is_said_where_it_was_typed(
    admin: Browser, fields: dict[str, Any], words: str
) -> None:
    before = len(admin.main.heard)
    page = await upload(admin, "/certificates/new", client="abc", **fields)
    assert (page.status_code, words in page.text) == (422, True)
    assert 'value="abc"' in page.text
    assert set(admin.main.calls()[before:]) <= LOOKS


@pytest.mark.parametrize(
    ("status", "slug"),
    [
        (422, "bad-order"), (403, "bad-identity"), (422, "bad-signing-request"),
        (422, "key-used-before"), (409, "name-taken"), (404, "not-found"),
    ],
)  # fmt: skip
async def test_what_the_main_server_refuses_is_said_on_the_form(
    admin: Browser, status: int, slug: str
) -> None:
    admin.main.refuse("POST /certs", status, slug, "Not like this.")
    page = await upload(admin, "/certificates/new", client="abc", way="shown")
    assert (page.status_code, "Not like this." in page.text) == (status, True)
    assert '<form method="post" action="/certificates/new"' in page.text


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", BOUNDARY),
        (b"--x\r\n", BOUNDARY),
        (b"--x\r\ncontent-disposition: form-data; name=a\r\n\r\n\xff\r\n--x--", BOUNDARY),
        (b"--y\r\n\r\n--y--", "multipart/form-data"),
        (b"--x\r\ncontent-disposition: form-data; name*=utf-8''a\r\n\r\nb\r\n--x--", BOUNDARY),
        (b"--x\r\ncontent-disposition: form-data; name*0*=a\r\n\r\nb\r\n--x--", BOUNDARY),
        (b'--x\r\ncontent-disposition: form-data; name="a"\r\n--x--', BOUNDARY),
        (b'--x\r\ncontent-disposition: form-data; name="\xff"\r\n\r\nb\r\n--x--', BOUNDARY),
        (b"a=b", BOUNDARY),
    ],
)  # fmt: skip
async def test_what_is_no_form_with_a_file_is_refused(
    admin: Browser, body: bytes, told: str
) -> None:
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": told}
    answer = await admin.http.post("/certificates/new", content=body, headers=headers)
    assert answer.status_code in (400, 403)
    assert "POST /certs" not in admin.main.calls()


async def test_a_file_that_is_too_large_is_refused(admin: Browser) -> None:
    files = {"request": ("a.csr", b"x" * MAX_BYTES)}
    answer = await upload(admin, "/certificates/new", files, way="csr", client="a")
    assert answer.status_code == 413


async def test_a_certificate_is_renewed_for_a_key_made_here(admin: Browser) -> None:
    assert "gatepost cert renew" in (await admin.get(f"{OWN}/renew")).text
    page = await upload(admin, f"{OWN}/renew", way="shown")
    assert (page.status_code, "CANARY" in page.text) == (200, True)
    assert admin.main.said() == {"csr": None, "pkcs12_password": None}
    admin.main.refuse(f"POST {OWN}/renew", 422, "invalid", "It was revoked.")
    page = await upload(admin, f"{OWN}/renew", way="shown")
    assert (page.status_code, "It was revoked." in page.text) == (422, True)


async def test_what_would_be_taken_is_said_before_it_is(admin: Browser) -> None:
    dry = await admin.send(f"{OWN}/revoke", OWN)
    assert (dry.status_code, "Nothing has been changed yet" in dry.text) == (200, True)
    assert f'href="{OWN}"' in dry.text
    said = admin.main.said()
    assert (said["serial"], said["dry_run"]) == (SERIAL, True)
    wrong = await admin.send(f"{OWN}/revoke", OWN, confirmed="1", reason="certificateHold")
    assert (wrong.status_code, "Choose a reason" in wrong.text) == (422, True)
    admin.main.answers["POST /certificates/revoke"] = 200, CHANGED
    done = await admin.send(f"{OWN}/revoke", OWN, confirmed="1", reason="keyCompromise")
    assert done.headers["location"] == f"{OWN}?done=revoked"
    said = admin.main.said()
    assert (said["reason"], said["dry_run"]) == ("keyCompromise", False)


async def test_all_of_a_client_is_taken_with_its_tokens(admin: Browser) -> None:
    admin.main.answers["POST /certificates/revoke"] = 200, DRY | {"tokens_withdrawn": 2}
    own = f"/clients/{CLIENT_ID}"
    assert "2 tokens to enrol with" in (await admin.send(f"{own}/revoke", own)).text
    said = admin.main.said()
    assert (said["client_id"], said["role"], said["serial"]) == (CLIENT_ID, "client", None)
    admin.main.answers["POST /certificates/revoke"] = 200, CHANGED | {"redis_told": False}
    done = await admin.send(f"{own}/revoke", own, confirmed="1", reason="unspecified")
    assert done.headers["location"] == f"{own}?done=revoked-untold"
    page = await admin.get(done.headers["location"])
    assert "Redis could not be told" in page.text
    admin.main.refuse("POST /certificates/revoke", 404, "not-found")
    assert "nothing that could be revoked" in (await admin.send(f"{own}/revoke", own)).text


async def test_a_hold_begins_and_ends(admin: Browser) -> None:
    held = await admin.send(f"{OWN}/hold", OWN)
    assert held.headers["location"] == f"{OWN}?done=held"
    assert (admin.main.calls()[-1], admin.main.said()["serial"]) == (
        "POST /certificates/hold",
        SERIAL,
    )
    released = await admin.send(f"{OWN}/release", OWN)
    assert released.headers["location"] == f"{OWN}?done=released-untold"
    assert "Redis could not be told" in (await admin.get(released.headers["location"])).text


async def test_a_client_is_made_found_and_limited(admin: Browser) -> None:
    typed = {"client": "client_001", "rate_per_second": "7", "burst": "9"}
    made = await admin.send("/clients", **typed)
    assert made.headers["location"] == f"/clients/{CLIENT_ID}?done=created"
    assert admin.main.said() == {"client_id": "client_001", "rate_per_second": 7, "burst": 9}
    found = await admin.get("/clients?find=client_001")
    assert found.headers["location"] == f"/clients/{CLIENT_ID}"
    own = f"/clients/{CLIENT_ID}"
    page = await admin.get(own)
    assert f'href="/messages?client={CLIENT_ID.replace(":", "%3A")}"' in page.text
    limited = await admin.send(f"{own}/limits", own, rate_per_second="5", burst="6")
    assert limited.headers["location"] == f"{own}?done=limits"
    assert (admin.main.calls()[-1], admin.main.said()) == (
        f"PATCH {own}",
        {"rate_per_second": 5, "burst": 6, "disabled": None},
    )
    for wrong in ("", "x", "-1", "٣", "9" * 30):
        page = await admin.send(f"{own}/limits", own, rate_per_second=wrong, burst="6")
        assert (page.status_code, "is a whole number" in page.text) == (422, True), wrong


@pytest.mark.parametrize(("act", "disabled"), [("disable", True), ("enable", False)])
async def test_a_client_is_disabled_and_enabled(admin: Browser, act: str, disabled: bool) -> None:
    own = f"/clients/{CLIENT_ID}"
    done = await admin.send(f"{own}/{act}", own)
    assert done.headers["location"] == f"{own}?done={act}"
    assert admin.main.said()["disabled"] is disabled


async def test_a_token_is_shown_once_with_the_command(admin: Browser) -> None:
    page = await admin.send("/tokens", client="new", minutes="1440")
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    assert 'value="gatepost enrol http://pki.example:8002"' in page.text
    assert 'value="CANARY"' in page.text
    assert admin.main.said() == {"client_id": "new", "minutes": 1440.0}
    assert "CANARY" not in (await admin.get("/tokens")).text
    for minutes in ("", "5", "CANARY"):
        assert (await admin.send("/tokens", client="new", minutes=minutes)).status_code == 422
    admin.main.refuse("POST /tokens", 403, "bad-identity", "a name is letters")
    page = await admin.send("/tokens", client="a b", minutes="60")
    assert "a name is letters" in page.text


async def test_a_token_is_withdrawn(admin: Browser) -> None:
    done = await admin.send(f"/tokens/{'cd' * 32}/withdraw", "/tokens")
    assert done.headers["location"] == "/tokens?done=withdrawn"
    assert admin.main.calls()[-1] == f"DELETE /tokens/{'cd' * 32}"
    assert (await admin.send("/tokens/x/withdraw", "/tokens")).status_code == 404


async def test_after_what_was_done_only_what_we_say_is_shown(admin: Browser) -> None:
    for path in (f"{OWN}?done=CANARY", f"/clients/{CLIENT_ID}?done=CANARY", "/tokens?done=CANARY"):
        page = await admin.get(path)
        assert "CANARY" not in page.text
        assert 'class="alert alert-success"' not in page.text


@pytest.mark.parametrize("path", ["/certificates", "/clients", "/tokens", OWN])
async def test_who_may_not_is_told_so(admin: Browser, path: str) -> None:
    admin.main.refuse(f"GET {path}", 403, "wrong-role", "Your role may not do this.")
    answer = await admin.get(path)
    assert (answer.status_code, "Your role may not do this." in answer.text) == (403, True)
    sent = parse_qs(urlsplit(str(answer.url)).query)
    assert sent == {}
