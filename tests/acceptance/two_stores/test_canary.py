"""I6, over everything that a running gateway leaves anywhere: no body and no number, in no form, in
no file, no log, no metric, no argument and no environment; and I7: Redis and the edge open nothing.
"""

import secrets
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from gatepost.trust.sealing import (
    CONTEXT_INFO,
    SUITE,
    Sealer,
    SealingKey,
    additional_data,
    message_key,
    parse,
)
from gatepost.wire.bundle import decode_bundle
from gatepost.wire.envelope import decode
from infra.dev.place import session
from infra.dev.ports import HOST
from tests.acceptance.two_stores.rig import MESSAGES, Rig, accepted, post, submission
from tests.heard import wait_until
from tests.integration.main_server.test_at_rest import forms

BODY = f"canary \u00e9\u6f22\U0001f600 {secrets.token_hex(6)} body"
NUMBER = f"+4917{secrets.randbelow(10**9):09d}"
SOUGHT = forms(BODY) | forms(NUMBER) | forms(NUMBER.removeprefix("+"))


def live(rig: Rig) -> None:
    """A message in each situation that leaves something behind."""
    canary = {"sender_number": NUMBER, "message_body": BODY}
    with rig.client() as client:
        ids = [accepted(post(client, **canary))[0] for _ in range(5)]
        ids.append(accepted(post(client, key="canary", **canary))[0])
        ids.append(accepted(post(client, ordering_key=BODY, **canary))[0])
        post(client, key="canary", sender_number=NUMBER, message_body=BODY + "!")
        batch = [submission(**canary), submission(**canary, extra=BODY), "{"]
        client.post(f"{MESSAGES}/batch", json=batch)
        refused = [
            {"sender_number": BODY, "message_body": NUMBER},
            {**canary, BODY: NUMBER},
            {**canary, "metadata": {"client_id": BODY, "timestamp": NUMBER}},
        ]
        for document in refused:
            assert client.post(MESSAGES, json=document).status_code in (403, 422)
        json_type = {"content-type": "application/json"}
        half = f'{{"message_body": "{BODY}", '.encode()
        assert client.post(MESSAGES, content=half, headers=json_type).status_code == 400
        with rig.refused("proxy-main"):
            ids.append(accepted(post(client, **canary))[0])
        with rig.refused("proxy-redis"):
            ids.append(accepted(post(client, **canary))[0])
        rig.redis.flushall()
        rig.age()
        rig.wait_delivered([one for one in ids if one in rig.rows(ids)])
        client.get(f"{MESSAGES}/{ids[0]}")
        # And some that wait, sealed, in both stores.
        with rig.frozen("worker-redis"):
            for _ in range(5):
                post(client, **canary)
            rig.redis.bgrewriteaof()
            wait_until(lambda: not rig.redis.info("persistence")["aof_rewrite_in_progress"])
            assert found(rig) == []


def found(rig: Rig) -> list[tuple[str, bytes]]:
    """Where it can be read, and in which form."""
    places: dict[str, bytes] = {
        str(file): file.read_bytes() for file in rig.place.folder.rglob("*") if file.is_file()
    }
    leaders = [child.pid for child in rig.children.values()]
    leaders += [rig.redis_server.pid, rig.maria_server.pid]
    for leader in leaders:
        for pid in session(leader):
            for name in ("cmdline", "environ"):
                file = Path(f"/proc/{pid}/{name}")
                places[str(file)] = file.read_bytes()
    for name in rig.children:
        url = f"http://{HOST}:{rig.ops_port(name)}/metrics"
        with urllib.request.urlopen(url) as answer:
            places[url] = answer.read()
    assert len(places) > 50
    return [(place, form) for place, data in places.items() for form in SOUGHT if form in data]


def test_nothing_of_a_message_can_be_read_anywhere(whole: Rig) -> None:
    live(whole)
    assert found(whole) == []


def test_the_search_sees_what_is_there(whole: Rig) -> None:
    """The test of the test: each form, in a file among the services' own."""
    planted = {whole.place.logs / f"planted-{n}": form for n, form in enumerate(SOUGHT)}
    try:
        for file, form in planted.items():
            file.write_bytes(b"x" * 999 + form + b"x" * 999)
        assert {(str(file), form) for file, form in planted.items()} <= set(found(whole))
    finally:
        for file in planted:
            file.unlink(missing_ok=True)


def opens(sealed: bytes, message_id: UUID, client_id: str, domain: str, held: bytes) -> bool:
    """Whether any 32 bytes of what is held, as whatever key, open a message."""
    parts = parse(sealed)
    bound = additional_data(message_id, client_id, domain)
    for start in range(len(held) - 31):
        key = held[start : start + 32]
        for secret in (key, _decapsulated(key, parts.encapsulated)):
            for final in (secret, message_key(secret, message_id)) if secret else ():
                with suppress(InvalidTag):
                    AESGCM(final).decrypt(parts.nonce, parts.ciphertext, bound)
                    return True
    return False


def _decapsulated(key: bytes, encapsulated: bytes) -> bytes | None:
    try:
        private = X25519PrivateKey.from_private_bytes(key)
        return SUITE.decrypt(encapsulated, private, info=CONTEXT_INFO)
    except (InvalidTag, ValueError):
        return None


def test_what_edge_and_redis_keep_opens_nothing(edge: Rig) -> None:
    """I7: all that the proxy, the workers and Redis have, tried as a key, byte by byte."""
    with edge.client() as client:
        accepted(post(client, key="canary", sender_number=NUMBER, message_body=BODY))
    cached = (edge.place.folder / "proxy" / "bundle.json").read_bytes()
    bundle = decode_bundle(cached)
    keys = [
        load_pem_private_key((edge.place.pki / f"{name}.key").read_bytes(), None).private_bytes(
            Encoding.DER, PrivateFormat.PKCS8, NoEncryption()
        )
        for name in ("proxy", "proxy-client", "worker")
    ]
    values: Any = edge.redis.hvals(edge.key("payload"))
    (payload,) = values
    envelope = decode(payload[payload.index(b'{"message_id"') :])
    claims: Any = [edge.redis.hgetall(name) for name in edge.redis.keys("gatepost:*")]
    claimed = [value for claim in claims for value in claim.values()]
    held = b"".join([bundle.mac_key, bundle.sealing_key.public, envelope.sealed, *keys, *claimed])
    names = (envelope.message_id, envelope.client_id, envelope.domain)
    assert not opens(envelope.sealed, *names, held)

    # The test of the test: among the same bytes, the right key is found.
    private = X25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw()
    key = SealingKey(b"k" * 8, public, bundle.sealing_key.use_until)
    other = Sealer().seal(key, *names, b"content")
    assert opens(other, *names, held + private.private_bytes_raw() + held)
