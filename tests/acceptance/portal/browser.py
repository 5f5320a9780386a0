"""A browser at the portal of a running stack, as far as forms and cookies go."""

import re
import ssl

import httpx

from tests.acceptance.site import Site


class Browser:
    """It has no certificate, and trusts the CA as a person would have told it to."""

    def __init__(self, site: Site) -> None:
        self.url = site.url("portal")
        context = ssl.create_default_context(cafile=site.status["ca"])
        self.http = httpx.Client(base_url=self.url, verify=context, trust_env=False, timeout=20)

    def send(self, path: str, page: str | None = None, **fields: str) -> httpx.Response:
        shown = self.http.get(page or path).text
        found = re.search(r'name="form" value="([^"]+)"', shown)
        assert found, shown
        headers = {"origin": self.url, "sec-fetch-site": "same-origin"}
        whole = {"form": found[1]} | fields
        return self.http.post(path, data=whole, headers=headers, follow_redirects=True)

    def sign_in(self, name: str, password: str, path: str = "/login") -> httpx.Response:
        return self.send(path, name=name, password=password)

    def is_in(self) -> bool:
        return self.http.get("/account").status_code == 200
