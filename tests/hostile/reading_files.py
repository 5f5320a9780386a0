"""Readers of files: settings, domains, keys, backups, and what processes keep."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gatepost.cli.connection import _configured
from gatepost.cli.failure import Failure
from gatepost.client.errors import GatepostError as ClientError
from gatepost.client.files import Files
from gatepost.client.trust import read_key
from gatepost.config.settings import load
from gatepost.errors import ConfigurationError, KeysUnavailable
from gatepost.trust.revocation import Revocations, encode_revocations
from gatepost.trust.tls import read_trusted
from gatepost.wire.contract import encode_json
from main_server.backup.sealed import read_salt
from main_server.ca.authority import load_authority
from main_server.ca.authority import read_key as read_ca_key
from main_server.ca.crl import build_crl
from main_server.ca.crl_file import read_crl_file
from main_server.key_file import read_keys
from main_server.keys.backup.form import Sealing, open_backup
from main_server.keys.master import MasterKey, MasterKeys
from main_server.tenants.domains.seeding import read_domains
from proxy.bundles import BundleCache
from proxy.settings import ProxySettings
from tests import factories
from tests.factories import Pki
from tests.hostile.readers import Reader, from_file

_PROXY = b"""server: {host: 127.0.0.1, port: 8001, workers: 2}
redis:
  host: 127.0.0.1
  port: 6379
main_server: {url: "https://localhost:8000", cert_file: a.pem, key_file: a.key, ca_file: ca.pem}
cache: {folder: var/cache}
tls: {cert_file: a.pem, key_file: a.key, ca_file: ca.pem}
validation: {max_body_length: 1000}
"""
_DOMAINS = b"""domains:
  example.com: {}
  example.org:
    queue_prefix: example-org
    max_undelivered: 100000
    retention_days: 30
"""
_CLIENT = b'url = "https://a:8001"\nca = "ca.pem"\ncert = "client.pem"\nkey = "client.key"\n'
_WRONG = (ConfigurationError,)


def list_readers(folder: Path) -> list[Reader]:
    ca = folder / "ca of files"
    Pki(ca)
    pem, key = (ca / "intermediate.pem").read_bytes(), (ca / "intermediate.key").read_bytes()
    crl = build_crl(load_authority(ca), [], datetime.now(UTC), None).der
    state = encode_revocations(Revocations(3, [crl]))
    sealing = Sealing(MasterKeys(lambda: [MasterKey(os.urandom(32))]))
    backup = b"gatepost-keys-1 master 0011223344556677\n" + bytes(60)
    cache = folder / "cache"
    cache.mkdir()

    def known(file: Path) -> object:
        return BundleCache(cache).read()

    def held(file: Path) -> object:
        return Files(file, file, file).leaf()

    def read(
        name: str, read: Callable[[Path], object], good: bytes, *raises: type[Exception]
    ) -> Reader:
        where = (
            cache / "bundle.json" if name == "kept bundle" else folder / f"{len(name)} {name[:3]}"
        )
        return Reader(name, from_file(where.parent, where.name, read), good, raises)

    def salt(data: bytes) -> object:
        with (folder / "part").open("w+b") as file:
            file.write(data)
            file.seek(0)
            return read_salt(file)

    return [
        read("settings", partial(load, ProxySettings), _PROXY, *_WRONG),
        read("domains", read_domains, _DOMAINS, *_WRONG),
        read("CA file", read_trusted, pem, *_WRONG),
        read("key of a CA", read_ca_key, key, *_WRONG),
        read("lists in a file", read_crl_file, state, *_WRONG),
        read("master keys", read_keys, os.urandom(64), *_WRONG),
        read("client's settings", lambda file: list(_configured(file)), _CLIENT, Failure),
        read("client's certificate", held, pem, ClientError),
        read("client's key", read_key, key, ClientError),
        read("kept bundle", known, encode_json(factories.bundle())),
        Reader(
            "backup of keys",
            partial(open_backup, sealing),
            backup,
            (*_WRONG, KeysUnavailable),
        ),
        Reader("part of a backup", salt, b"gatepost-backup-1 " + b"00" * 16 + b" part\n", _WRONG),
    ]
