"""The sealed forms, held to vectors: fixed keys and fixed bytes, what opens and what must not."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from gatepost.errors import CannotOpen
from main_server.keys.master import MasterKey, MasterKeys, service_purpose
from main_server.keys.repository import ServiceKey
from main_server.keys.rows.form import open_row
from main_server.keys.service import Keyring
from main_server.keys.service_keys import PURPOSES, new_service_key
from tests import vectors
from tests.factories import envelope, keyring
from tests.vectors import generate

FOLDER = Path(vectors.__file__).parent
EDGE = json.loads((FOLDER / "edge.json").read_text())
ROW = json.loads((FOLDER / "row.json").read_text())
MASTER = MasterKey(b"v" * 32)


def name(vector: dict[str, Any]) -> str:
    return f"{vector['id']}: {vector['comment']}"


@pytest.fixture(scope="module")
def ring() -> Keyring:
    now = datetime.now(UTC).replace(tzinfo=None)
    keys = [new_service_key(MASTER, purpose, now) for purpose in PURPOSES]
    keys += [stored(one["kid"], one["private"], now) for one in EDGE["sealing_keys"]]
    return Keyring(MasterKeys(lambda: [MASTER]), lambda: keys)


def stored(kid: str, private: str, now: datetime) -> ServiceKey:
    secret, wanted = bytes.fromhex(private), bytes.fromhex(kid)
    public = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
    wrapped = MASTER.wrap(secret, service_purpose("sealing", wanted))
    return ServiceKey(wanted, "sealing", MASTER.kid, wrapped, public, now, retired_at=now)


@pytest.mark.parametrize("vector", EDGE["tests"], ids=name)
def test_what_the_edge_sealed(ring: Keyring, vector: dict[str, Any]) -> None:
    sealed = envelope(
        keyring(),
        message_id=UUID(vector["message_id"]),
        client_id=vector["client_id"],
        domain=vector["domain"],
        sealed=bytes.fromhex(vector["sealed"]),
    )
    if vector["content"] is None:
        with pytest.raises(CannotOpen):
            ring.open_envelope(sealed)
    else:
        assert ring.open_envelope(sealed) == vector["content"].encode()


@pytest.mark.parametrize("vector", ROW["tests"], ids=name)
def test_what_a_row_holds(vector: dict[str, Any]) -> None:
    """With the key that the row names; where that was destroyed, with each of the others."""
    keys = {one["key_id"]: bytes.fromhex(one["key"]) for one in ROW["data_keys"]}
    tried = [keys[vector["key_id"]]] if vector["key_id"] in keys else list(keys.values())
    for key in tried:
        given = (
            key,
            vector["key_id"],
            UUID(vector["message_id"]),
            vector["client_id"],
            vector["domain"],
            bytes.fromhex(vector["sealed"]),
        )
        if vector["content"] is None:
            with pytest.raises(CannotOpen):
                open_row(*given)
        else:
            assert open_row(*given) == vector["content"].encode()


@pytest.mark.parametrize(
    ("kept", "made"), [(EDGE, generate.edge_vectors), (ROW, generate.row_vectors)]
)
def test_the_generator_makes_the_same_cases(kept: dict[str, Any], made: Any) -> None:
    """But for what is random in them: so none gets lost when they are made anew."""
    fresh = made()
    assert [name(one) for one in fresh["tests"]] == [name(one) for one in kept["tests"]]
    assert {k: v for k, v in fresh.items() if k != "tests"} == {
        k: v for k, v in kept.items() if k != "tests"
    }


def test_there_are_cases_of_every_kind() -> None:
    for kept in (EDGE, ROW):
        comments = " ".join(one["comment"] for one in kept["tests"])
        for kind in ("opens", "another", "flipped", "cut", "version", "destroyed", "id of"):
            assert kind in comments
        assert len({one["sealed"] for one in kept["tests"]}) > 20
