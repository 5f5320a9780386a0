"""Certificates in the portal of a running stack: given there, used, and taken away there."""

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text

from gatepost.cli.main import run
from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import TlsFiles
from gatepost.wire.people import UserRole
from main_server.ca.authority import utc_now
from main_server.store.database import transact
from main_server.tenants.clients.service import ensure
from tests.acceptance.portal.browser import Browser
from tests.acceptance.site import Site, accepted, eventually, post
from tests.csrs import make_csr
from tests.integration.main_server.new_people import PASSWORD, People

REVOKED = "urn:gatepost:problem:revoked-certificate"


@pytest.fixture
def admin(site: Site, people: People) -> Iterator[Browser]:
    people.with_password(role=UserRole.ADMIN)
    browser = Browser(site)
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    yield browser
    browser.http.close()


def fresh() -> str:
    return f"c-{uuid4().hex[:10]}"


def shown(page: str, field: str) -> str:
    found = re.search(rf'id="{field}"[^>]*>(.*?)</textarea>', page, re.S)
    assert found, page
    return unescape(found[1])


def serial_in(page: str) -> str:
    """The first one below the banner."""
    found = re.search(r'href="/certificates/([0-9a-f]{32})"', page.partition("<h1")[2])
    assert found, page
    return found[1]


def saved(folder: Path, page: str) -> TlsFiles:
    for name, ending in (("cert", "pem"), ("key", "key"), ("ca", "ca")):
        (folder / f"mine.{ending}").write_text(shown(page, name))
    return TlsFiles(*(folder / f"mine.{ending}" for ending in ("pem", "key", "ca")))


def is_known(site: Site, mine: TlsFiles) -> bool:
    """Also who asks more often than they may: of who isn't known nothing is counted."""
    with site.calling(mine) as client:
        return client.get("/api/v1/whoami").status_code in (200, 429)


def test_what_was_issued_in_the_portal_is_revoked_there_and_out(
    site: Site, admin: Browser, people: People, tmp_path: Path
) -> None:
    name = fresh()
    issued = admin.send("/certificates/new", client=name, way="shown")
    assert issued.status_code == 200, issued.text
    assert issued.headers["cache-control"] == "no-store"
    mine, serial = saved(tmp_path, issued.text), serial_in(issued.text)
    eventually(lambda: all(is_known(site, mine) for _ in range(8)), "the edge knows it")
    with site.calling(mine) as client:
        message_id = accepted(post(client))
        site.wait_delivered(message_id)
        page = admin.http.get(f"/certificates/{serial}").text
        assert "for none of the client" not in page, "it says when it was last used"
        assert message_id in admin.http.get(f"/messages?client=example.com:{name}").text
        path = f"/certificates/{serial}"
        dry = admin.send(f"{path}/revoke", path)
        assert "Nothing has been changed yet" in dry.text
        assert client.get("/api/v1/whoami").status_code == 200
        done = admin.send(f"{path}/revoke", path, confirmed="1", reason="keyCompromise")
        answered = time.monotonic()
        assert "It is revoked" in done.text
        eventually(lambda: not is_known(site, mine), "it is out", 1)
        time.sleep(max(0.0, answered + 1 - time.monotonic()))  # what I8 promises is from then on
        for _ in range(8):
            with site.calling(mine) as again:
                answer = post(again)
            assert (answer.status_code, answer.json()["type"]) == (403, REVOKED)
    query = text(
        "SELECT action FROM audit_log WHERE actor = :a AND details LIKE :s ORDER BY seq"
    ).bindparams(a=f"gatepost://example.com/user/{people.name}", s=f"%{serial}%")
    acts = list(transact(site.engine, lambda c: c.execute(query).scalars()))
    assert acts == ["certificate.issued", "certificate.revoked"], "by whom is written down"
    key = shown(issued.text, "key").splitlines()[1]
    for log in site.stack.place.logs.glob("*.log*"):
        assert key not in log.read_text(errors="replace"), log


def test_a_partner_enrols_with_a_token_of_the_portal_and_is_renewed_there(
    site: Site, admin: Browser, tmp_path: Path
) -> None:
    name = fresh()
    page = admin.send("/tokens", client=name, minutes="60").text
    command = re.search(r'value="(gatepost enrol [^"]+)"', page)
    token = re.search(r'id="token" value="([^"]+)"', page)
    assert command
    assert token
    file, folder = tmp_path / "token", tmp_path / "partner"
    file.write_text(token[1])
    told = command[1].split()[1:]
    assert run([*told, "--folder", str(folder), "--token-file", str(file)]) == 0
    serial = serial_in(admin.http.get(f"/clients/example.com:{name}").text)
    assert "enrolled with a token" in admin.http.get(f"/certificates/{serial}").text
    renewed = admin.send(
        f"/certificates/{serial}/renew", way="csr", csr=make_csr(name=name).decode()
    )
    assert renewed.status_code == 200, renewed.text
    assert 'id="key"' not in renewed.text
    successor = serial_in(renewed.text)
    assert f"/certificates/{serial}" in admin.http.get(f"/certificates/{successor}").text
    assert f"/certificates/{successor}" in admin.http.get(f"/certificates/{serial}").text
    own = f"/clients/example.com:{name}"
    dry = admin.send(f"{own}/revoke", own)
    assert {serial, successor} <= set(re.findall(r"/certificates/([0-9a-f]{32})", dry.text))


def test_a_client_is_limited_and_disabled(site: Site, admin: Browser, tmp_path: Path) -> None:
    name = fresh()
    own = f"/clients/example.com:{name}"
    made = admin.send("/clients", client=name, rate_per_second="5", burst="5")
    assert made.url.path == own
    mine = saved(tmp_path, admin.send("/certificates/new", client=name, way="shown").text)
    eventually(lambda: all(is_known(site, mine) for _ in range(8)), "the edge knows it")
    admin.send(f"{own}/limits", own, rate_per_second="1", burst="1")

    def is_limited() -> bool:
        with site.calling(mine) as client:
            return any(post(client).status_code == 429 for _ in range(5))

    eventually(is_limited, "the new limits count")
    admin.send(f"{own}/disable", own)
    eventually(lambda: not any(is_known(site, mine) for _ in range(8)), "it is out")
    admin.send(f"{own}/enable", own)
    eventually(lambda: all(is_known(site, mine) for _ in range(8)), "it is back")


def test_each_administrator_sees_their_part(site: Site, admin: Browser) -> None:
    """On the pages, too: what isn't theirs is answered as what isn't there (I12)."""
    other, now = f"o{uuid4().hex[:8]}.example", utc_now()
    foreigner = People(site.engine, domain=other)
    foreigner.with_password(role=UserRole.ADMIN)
    holder = Identity(other, Role.CLIENT, "abc")
    ensure(site.engine, holder, now)
    foreign = f"{int(site.issue(holder).x509.serial_number):032x}"
    worker = site.issue(Identity("gatepost", Role.WORKER, fresh()))
    ours = f"{int(worker.x509.serial_number):032x}"

    def said(browser: Browser, path: str) -> tuple[int, str]:
        answer = browser.http.get(path)
        words = answer.text.replace(answer.headers["x-request-id"], "")
        return answer.status_code, words.replace(path, "")

    for serial in (foreign, ours):
        for more in ("", "/renew"):
            found = said(admin, f"/certificates/{serial}{more}")
            assert found == said(admin, f"/certificates/{'0' * 32}{more}")
            assert found[0] == 404
    assert said(admin, f"/clients/{other}:abc") == said(admin, "/clients/nowhere.example:abc")
    theirs = Browser(site)
    theirs.sign_in(f"{foreigner.name}@{other}", PASSWORD)
    assert theirs.http.get(f"/certificates/{foreign}").status_code == 200
    assert theirs.http.get("/certificates").text.count('<th scope="row"') == 1
    theirs.http.close()


def test_a_user_has_no_business_here(site: Site, people: People) -> None:
    people.with_password()
    browser = Browser(site)
    browser.sign_in(f"{people.name}@example.com", PASSWORD)
    for path in ("/certificates", "/clients", "/tokens", "/clients/example.com:client_001"):
        assert browser.http.get(path).status_code == 403, path
    assert "/certificates" not in browser.http.get("/messages").text
    browser.http.close()


def test_the_banner_says_what_expires(site: Site, admin: Browser) -> None:
    """What tests issue lives for a day."""
    name = fresh()
    site.issue(Identity("example.com", Role.CLIENT, name))
    page = admin.http.get("/account").text
    assert 'aria-label="What expires"' in page
    listed = admin.http.get(f"/certificates?expiring=1&name={name}").text
    assert f"example.com:{name}" in listed
