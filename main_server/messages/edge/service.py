"""The bundle, made from the ledger and the keyring."""

from sqlalchemy import Connection, Engine

from gatepost.clock import Clock, from_ms
from gatepost.wire.bundle import Bundle, KnownAnchor
from main_server.ca.anchors.repository import list_anchors
from main_server.keys.lifetimes import MAX_LIFETIME
from main_server.keys.service import Keyring
from main_server.messages.edge import repository
from main_server.store.database import transact
from main_server.tenants.domains import repository as domains


def list_queues(engine: Engine) -> list[str | None]:
    """List all queues in which messages may wait; None is the default one."""
    return transact(engine, domains.list_queues)


def make_bundle(engine: Engine, keyring: Keyring, clock: Clock) -> Bundle:
    def read(connection: Connection) -> Bundle:
        return Bundle(
            sealing_key=keyring.sealing_key(),
            mac_key=keyring.edge_mac_key(),
            domains=repository.list_domains(connection),
            clients=repository.list_clients(connection, from_ms(clock.now_ms())),
            anchors=[
                KnownAnchor(key=one.id, domain=one.domain, certificate=one.der)
                for one in list_anchors(connection)
            ],
            max_lifetime_seconds=int(MAX_LIFETIME.total_seconds()),
        )

    return transact(engine, read)
