"""What a person is shown of delivered messages at the end of a run, asked of the portal's own API.

Each opening is a row of the audit log, so of many messages a sample is opened: the same one for the
same ids. The dump compares what the ledger keeps of all the others.
"""

import json
import ssl
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from gatepost.trust.tls import TlsFiles, client_context
from infra.dev.first_admin import ADMIN
from tests.chaos.digests import Digests
from tests.chaos.persisting import NotDone, persist

SAMPLE = 1_000
PATIENCE_SECONDS = 60.0
WHY = "a test compares it with what was sent"


@dataclass(frozen=True)
class Portal:
    """Where the main server listens, and the certificate of a portal; by `site.json`."""

    url: str
    ca: str
    cert: str
    key: str
    password_file: str

    def shown(self, message_ids: Iterable[str], digests: Digests) -> Iterator[dict[str, Any]]:
        """Of each message the digest of what is shown; none, and why, if nothing is. After the
        first that can't be asked for no more is asked."""
        with self._client() as client:
            asked = ""
            try:
                headers = {"authorization": f"Bearer {self._sign_in(client)}"}
                for asked in message_ids:
                    yield {"message_id": asked} | _open(client, asked, headers, digests)
            except NotDone as failure:
                yield {"message_id": asked, "why": str(failure), "digest": None}

    def _client(self) -> httpx.Client:
        context = self._context()
        return httpx.Client(base_url=self.url, verify=context, trust_env=False, timeout=20.0)

    def _context(self) -> ssl.SSLContext:
        files = TlsFiles(cert_file=Path(self.cert), key_file=Path(self.key), ca_file=Path(self.ca))
        return client_context(files)

    def _sign_in(self, client: httpx.Client) -> str:
        password = Path(self.password_file).read_text().strip()
        said = {"domain": "gatepost", "name": ADMIN, "password": password, "address": "127.0.0.1"}
        answer = _ask(client, "/api/portal/session", said, {})
        if answer.status_code != 200:
            raise NotDone(f"signing in was answered {answer.status_code}")
        return str(answer.json()["access_token"])


def sample(message_ids: Iterable[str], most: int = SAMPLE) -> Sequence[str]:
    """Return at most so many of them; which ones depends on nothing but the ids."""
    return sorted(message_ids, key=lambda one: sha256(one.encode()).digest())[:most]


def _ask(
    client: httpx.Client, path: str, said: dict[str, str], headers: dict[str, str]
) -> httpx.Response:
    """Return the answer, as soon as there is one that isn't about an outage."""

    def ask() -> httpx.Response:
        answer = client.post(path, json=said, headers=headers)
        if answer.status_code in (429, 500, 502, 503, 504):
            raise httpx.HTTPError(f"answered {answer.status_code}")
        return answer

    return persist("asking what the portal shows", ask, PATIENCE_SECONDS, (httpx.HTTPError,))


def _open(
    client: httpx.Client, message_id: str, headers: dict[str, str], digests: Digests
) -> dict[str, Any]:
    path = f"/api/portal/messages/{UUID(message_id)}/open"
    answer = _ask(client, path, {"reason": WHY}, headers)
    if answer.status_code != 200:
        return {"why": f"answered {answer.status_code}", "digest": None}
    told = json.loads(answer.content)
    return {"digest": digests.of(told["sender_number_masked"], told["message_body"])}
