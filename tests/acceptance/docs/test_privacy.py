"""What a running stack leaves in Redis, logs and metrics is what docs/privacy.md says.

It has sent messages by then, looked at them, refused some, issued and revoked certificates.
"""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from redis import Redis

from gatepost.queue.keys import NAMES
from infra.site.privacy import declaration
from tests.acceptance.site import Site, accepted, post

SAID = declaration()
LABEL = re.compile(r"(\w+)=\"")


@pytest.fixture(scope="module")
def used(site: Site) -> Site:
    with site.calling() as client:
        sent = [accepted(post(client, headers={"Idempotency-Key": str(uuid4())})) for _ in range(3)]
        post(client, json={"sender_number": "nonsense"})
        client.get(f"/api/v1/messages/{sent[0]}")
        client.get(f"/api/v1/messages/{uuid4()}")
    with site.calling("admin", "main_server") as admin:
        holder = {"client_id": f"example.com:p-{uuid4().hex[:8]}"}
        admin.post("/admin/certs", json=holder).raise_for_status()
        admin.post("/admin/certificates/revoke", json=holder).raise_for_status()
    site.wait_delivered(*sent)
    return site


def declared(name: str) -> set[str]:
    return {one for names in SAID[name].values() for one in names}


def test_keys_of_redis(used: Site) -> None:
    with Redis.from_url(used.status["redis"]) as redis:
        found = {key.decode("latin-1") for key in redis.scan_iter(count=1000)}
    assert found
    known = set(SAID["redis"])
    assert {key for key in found if kind_of(key) not in known} == set()


def kind_of(key: str) -> str:
    """Of a partition's keys what stands behind its tag; of others their first two parts."""
    if key.startswith("{"):
        return key.partition("}:")[2].partition(":")[0]
    return ":".join(key.split(":")[:2])


def test_all_keys_of_a_partition_are_told() -> None:
    assert {*NAMES, "ready", "epoch"} <= set(SAID["redis"])


def events(site: Site) -> Iterator[dict[str, object]]:
    for service in ("proxy", "worker", "main_server", "portal"):
        text = site.stack.place.log(service).read_text(errors="replace")
        yield from (json.loads(line) for line in text.splitlines() if line.startswith("{"))


def test_fields_of_the_log(used: Site) -> None:
    found = {name for event in events(used) for name in event}
    assert {"event", "client_id", "message_id"} <= found
    assert found - declared("log") == set()


def test_labels_of_metrics(used: Site) -> None:
    found: set[str] = set()
    for urls in used.status["metrics"].values():
        for url in urls:
            port = urlsplit(url)
            answer = httpx.get(f"{port.scheme}://{port.netloc}/metrics", trust_env=False)
            samples = [line for line in answer.text.splitlines() if not line.startswith("#")]
            found |= {label for line in samples for label in LABEL.findall(line)}
    assert {"route", "status", "le"} <= found
    assert found - declared("labels") == set()
