"""Revoking in a rig, and putting into its Redis what a test wants there."""

from typing import Any

from cryptography import x509

from gatepost.trust.revocation import KEY, Reason, encode_revocations
from infra.dev.supervisor import seed
from main_server.ca.authority import Authority, load_authority, utc_now
from main_server.ca.revocation import revoke
from main_server.ca.revoked.repository import Selection, read_revocations
from main_server.store.database import transact
from tests.acceptance.two_stores.rig import Rig


def authority_of(rig: Rig) -> Authority:
    return load_authority(rig.place.folder / "ca")


def serial_of(rig: Rig, name: str) -> str:
    pem = (rig.place.pki / f"{name}.pem").read_bytes()
    return f"{x509.load_pem_x509_certificate(pem).serial_number:032x}"


def revoke_now(rig: Rig, name: str, *, tell_redis: bool = True) -> None:
    chosen = Selection(serial=serial_of(rig, name))
    done = revoke(rig.engine, [authority_of(rig)], chosen, Reason.KEY_COMPROMISE, utc_now())
    assert done.serials
    if tell_redis:
        publish(rig)


def is_revoked(rig: Rig, name: str) -> bool:
    query = "SELECT status FROM certificates WHERE serial = :serial"
    [row] = rig.sql(query, serial=serial_of(rig, name))
    return bool(row["status"] == "revoked")


def publish(rig: Rig) -> None:
    """Past the script that would refuse to go back in time."""
    state = transact(rig.engine, read_revocations)
    rig.redis.hset(KEY, mapping={"number": state.number, "data": encode_revocations(state)})


def told(rig: Rig) -> dict[bytes, bytes]:
    """What Redis says now, to be put back later."""
    found: Any = rig.redis.hgetall(KEY)
    return dict(found)


def tell(rig: Rig, told: dict[bytes, bytes]) -> None:
    mapping: Any = told
    rig.redis.delete(KEY)
    rig.redis.hset(KEY, mapping=mapping)


def issue_again(rig: Rig, name: str) -> None:
    """A new certificate in the place of one that was revoked."""
    (rig.place.pki / f"{name}.pem").unlink()
    seed(rig.place)
