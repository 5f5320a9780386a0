"""Makes what a development stack starts from: tables, a CA, certificates, a domain and its first
client.

Run again it changes nothing but what grows old: a certificate that is about to expire is made anew,
and so are the lists of revoked ones.
"""

import argparse
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from sqlalchemy import Connection, Engine

from analytics.settings import AnalyticsSettings
from gatepost.clock import from_ms, to_ms
from gatepost.config.settings import load
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity, Role
from infra.dev.first_admin import ensure_admin
from infra.dev.private import private_folder, write_private
from main_server.ca import repository
from main_server.ca.authority import (
    Order,
    Usage,
    load_authority,
    utc_now,
)
from main_server.ca.founding import init_authority, read_pins
from main_server.ca.revocation import renew_lists
from main_server.ca.service import Issued, issue
from main_server.retention.settings import RetentionSettings
from main_server.settings import Database, DatabaseOnly, MainServerSettings
from main_server.store import schema as migrating
from main_server.store.database import create_ledger_engine, transact
from main_server.store.rights import Account, grant_publishing, grant_reading, grant_retaining
from main_server.tenants.clients import repository as clients

DOMAIN, CLIENT = "example.com", "client_001"
RATE_PER_SECOND, BURST = 1_000, 10_000
LIFETIME, RENEW_BEFORE = timedelta(days=90), timedelta(days=30)
HOSTS = ("localhost", "127.0.0.1", "::1")


def _ours(role: Role, name: str) -> Identity:
    return Identity(INFRASTRUCTURE_DOMAIN, role, name)


ORDERS = {
    "main_server": Order(_ours(Role.MAIN, "main-1"), Usage.SERVER, LIFETIME, HOSTS),
    "proxy": Order(_ours(Role.PROXY, "proxy-1"), Usage.SERVER, LIFETIME, HOSTS),
    "proxy-client": Order(_ours(Role.PROXY, "proxy-1"), Usage.CLIENT, LIFETIME),
    "worker": Order(_ours(Role.WORKER, "worker-1"), Usage.CLIENT, LIFETIME),
    "portal": Order(_ours(Role.PORTAL, "portal-1"), Usage.SERVER, LIFETIME, HOSTS),
    "portal-client": Order(_ours(Role.PORTAL, "portal-1"), Usage.CLIENT, LIFETIME),
    "admin": Order(_ours(Role.ADMIN, "admin"), Usage.CLIENT, LIFETIME),
    CLIENT: Order(Identity(DOMAIN, Role.CLIENT, CLIENT), Usage.CLIENT, LIFETIME),
}


def seed(
    settings: MainServerSettings,
    database: Database,
    pki: Path,
    orders: Mapping[str, Order] = ORDERS,
    age: timedelta = timedelta(0),
) -> None:
    """Make what a stack starts from, where it is missing. `orders` are the certificates that there
    are to be, by the names of their files; those that are missing are issued as if `age` ago."""
    engine = create_ledger_engine(database, patient=True)
    migrating.upgrade(engine, database.keys_schema)
    init_authority(settings.ca.folder, utc_now())
    authority = load_authority(settings.ca.folder, settings.ca.public_url)
    known = {one.fingerprint for one in transact(engine, _list_known)}
    missing = [name for name in orders if _is_missing(pki / f"{name}.pem", known)]
    if missing:
        private_folder(pki)
        _add_clients(engine, [order.identity for order in orders.values()])
        for name in missing:
            issued = issue(engine, authority, orders[name], utc_now() - age)
            _write_pair(issued, pki / name)
    _write_pins(settings.ca.folder, pki / "ca.pem")
    renew_lists(engine, [authority], utc_now())


def _write_pins(folder: Path, file: Path) -> None:
    pins = read_pins(folder)
    if not file.exists() or file.read_bytes() != pins:
        write_private(file, pins, mode=0o644)


def _list_known(connection: Connection) -> list[repository.Known]:
    return repository.list_known(connection, list(Role), from_ms(to_ms(utc_now())))


def _is_missing(file: Path, known: set[str]) -> bool:
    """Return whether a certificate isn't there, isn't known to this ledger, or soon won't do."""
    if not file.exists():
        return True
    certificate = x509.load_pem_x509_certificate(file.read_bytes())
    soon = certificate.not_valid_after_utc - utc_now() < RENEW_BEFORE
    return soon or certificate.fingerprint(SHA256()).hex() not in known


def _add_clients(engine: Engine, identities: Sequence[Identity]) -> None:
    now = from_ms(to_ms(utc_now()))

    def add(connection: Connection) -> None:
        repository.add_domain(connection, INFRASTRUCTURE_DOMAIN, None, now)
        repository.add_domain(connection, DOMAIN, f"{DOMAIN}:messages", now)
        for identity in identities:
            if identity.role is Role.CLIENT:
                clients.add(connection, identity, RATE_PER_SECOND, BURST, now)

    transact(engine, add)


def grant_pipeline(database: Database, pipeline: AnalyticsSettings) -> None:
    """Grant the nightly pipeline's users what they may do. A ledger of the user's own has one user
    for all, who may do everything already."""
    host, migrates = "127.0.0.1", database.address().username
    publisher, reader = pipeline.database.address(), pipeline.read_from().address()
    if migrates not in (publisher.username, reader.username):
        engine = create_ledger_engine(database)
        grant_publishing(engine, Account(str(publisher.username), host))
        grant_reading(engine, Account(str(reader.username), host))
        engine.dispose()


def grant_retention(database: Database, retention: RetentionSettings) -> None:
    """Grant its rights to the user who takes away what is past its day."""
    user = retention.database.address().username
    if user != database.address().username:
        engine = create_ledger_engine(database)
        grant_retaining(engine, Account(str(user), "127.0.0.1"), database.keys_schema)
        engine.dispose()


def _write_pair(issued: Issued, file: Path) -> None:
    certificate = file.with_name(f"{file.name}.pem")
    certificate.unlink(missing_ok=True)  # an old one must not be found beside the new key
    write_private(file.with_name(f"{file.name}.key"), issued.key_pem)
    write_private(certificate, issued.chain_pem, mode=0o644)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m infra.dev.seed")
    parser.add_argument("--config", type=Path, required=True, help="the main server's settings")
    parser.add_argument(
        "--migration-config", type=Path, required=True, help="a user with DDL rights"
    )
    parser.add_argument("--analytics-config", type=Path, required=True, help="the pipeline's")
    parser.add_argument("--retention-config", type=Path, required=True, help="retention's")
    parser.add_argument("--pki", type=Path, required=True, help="where the certificates go")
    parser.add_argument("--admin-password", type=Path, required=True, help="where that is kept")
    arguments = parser.parse_args()
    database = load(DatabaseOnly, arguments.migration_config).database
    seed(load(MainServerSettings, arguments.config), database, arguments.pki)
    ensure_admin(create_ledger_engine(database), arguments.admin_password)
    grant_pipeline(database, load(AnalyticsSettings, arguments.analytics_config))
    grant_retention(database, load(RetentionSettings, arguments.retention_config))
