"""Certificates by the portal: one is issued, sends, and is out when it is revoked."""

from pathlib import Path
from uuid import uuid4

import httpx
from cryptography import x509
from playwright.sync_api import Browser, expect

from gatepost.trust.tls import TlsFiles
from tests.acceptance.browser.chrome import Visitor
from tests.acceptance.browser.harbour import Harbour
from tests.acceptance.site import Site, accepted, eventually, post


def gets_in(site: Site, files: TlsFiles) -> bool:
    try:
        with site.calling(files) as client:
            return client.get("/api/v1/whoami").status_code == 200
    except httpx.TransportError:
        return False


def test_one_is_issued_and_revoked_and_its_holder_is_cut_off(
    chromium: Browser, harbour: Harbour, tmp_path: Path
) -> None:
    site, file = harbour.site, tmp_path / "holder.pem"
    with Visitor(chromium, site) as visitor:
        page = visitor.sign_in(harbour.admin)
        visitor.link("Certificates").click()
        visitor.link("Issue one").click()
        visitor.field("Client").fill(f"buoy-{uuid4().hex[:8]}")
        visitor.field("How it is given").select_option("file")
        with page.expect_download() as download:
            visitor.button("Issue it").click()
        download.value.save_as(file)
        files = TlsFiles(file, file, Path(site.status["ca"]))
        eventually(lambda: all(gets_in(site, files) for _ in range(8)), "the edge knows it")
        with site.calling(files) as client:
            accepted(post(client))
            leaf = x509.load_pem_x509_certificates(file.read_bytes())[0]
            visitor.goto(f"/certificates/{leaf.serial_number:032x}")
            visitor.button("Revoke…").click()
            visitor.says("Nothing has been changed yet.")
            assert gets_in(site, files), "it only asked"
            visitor.button("Revoke for good").click()
            expect(page.locator("h1")).to_contain_text("revoked")
            eventually(lambda: not any(gets_in(site, files) for _ in range(4)), "it is out", 2)
