"""Keys are changed by command while real processes accept and deliver: no message notices (I1)."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest

from gatepost.cli.main import run
from infra.dev.stack import Stack
from tests.acceptance.site import MESSAGES, Site, eventually
from tests.factories import BODY, CLIENT_ID, NUMBER


@pytest.fixture
def site(stack: Stack) -> Site:
    return Site(stack)


def post_until(site: Site, stop: Event) -> list[str]:
    sent = []
    with site.calling() as client:
        while not stop.is_set():
            answer = client.post(MESSAGES, json={"sender_number": NUMBER, "message_body": BODY})
            assert answer.status_code == 202
            sent.append(answer.json()["message_id"])
    return sent


class Command:
    def __init__(self, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
        self._config = str(site.stack.place.config / "main_server.yaml")
        self._bundle = site.stack.place.folder / "proxy" / "bundle.json"
        self._capsys = capsys

    def __call__(self, *arguments: str) -> dict[str, Any]:
        assert run(["keys", *arguments, "--config", self._config, "--json"]) == 0
        said: dict[str, Any] = json.loads(self._capsys.readouterr().out.splitlines()[-1])
        return said

    def rotate_sealing(self) -> None:
        """Until the edge has heard of the new one."""
        before = self._bundle.read_bytes()
        self("rotate", "sealing")
        eventually(lambda: self._bundle.read_bytes() != before, "the edge has the new key")


def test_every_message_is_delivered_while_all_keys_change(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    keys, stop = Command(site, capsys), Event()
    day = datetime.now(UTC).date().isoformat()
    with ThreadPoolExecutor(1) as pool:
        posting = pool.submit(post_until, site, stop)
        try:
            for _ in range(2):
                assert keys("rotate", "master")["keys"] >= 4
                keys.rotate_sealing()
                keys("rotate", "number-mac")
                keys("reencrypt", "--client", CLIENT_ID, "--day", day)
        finally:
            stop.set()
        sent = posting.result(60)

    assert len(sent) > 10
    site.wait_delivered(*sent)
    rows = [site.row(one) or {} for one in sent]
    assert len({row["hmac_kid"] for row in rows}) > 1
    assert len({row["key_id"] for row in rows}) == 1
