"""The services' settings for a development stack, written at each start to `config/`."""

import secrets
from typing import Any

import yaml

from infra.dev import jvm
from infra.dev.place import Place
from infra.dev.ports import HOST, Ports
from infra.dev.private import private_folder, write_private
from infra.dev.stores import Stores

QUEUE = "message_queue"


def write_configuration(place: Place, ports: Ports, stores: Stores) -> None:
    private_folder(place.config)
    _make_master_key(place)
    for name, settings in _services(place, ports, stores).items():
        tree = {"environment": "development", **settings}
        write_private(place.config / f"{name}.yaml", yaml.safe_dump(tree, sort_keys=False))


def _services(place: Place, ports: Ports, stores: Stores) -> dict[str, dict[str, Any]]:
    return {
        "main_server": {
            "server": _listen(ports.main_server) | {"workers": 1},
            "pki": _listen(ports.pki),
            "ops": _listen(ports.main_server_ops),
            "tls": _certificate(place, "main_server"),
            "database": {"url": stores.database("gatepost_main"), "keys_schema": "gatepost_keys"},
            "redis": {"url": stores.redis("gatepost_main"), "queue_name": QUEUE},
            "keys": {"master_key_file": str(place.secrets / "master.key")},
            "ca": {
                "folder": str(place.folder / "ca"),
                "crl_file": str(place.folder / "crl" / "revoked.pem"),
                "public_url": f"http://{HOST}:{ports.pki}",
                "gateway_url": f"https://{HOST}:{ports.proxy}",
            },
            "portal_url": f"https://{HOST}:{ports.portal}",
        },
        "migration": {
            "database": {"url": stores.database("gatepost_migrate"), "keys_schema": "gatepost_keys"}
        },
        "worker": {
            "ops": _listen(ports.worker_ops),
            "main_server": _caller(place, ports, "worker"),
            "redis": {"url": stores.redis("gatepost_worker"), "queue_name": QUEUE},
            "worker": {"concurrency": 2, "retry_interval": 30, "max_attempts": 10000},
        },
        "proxy": {
            "server": _listen(ports.proxy) | {"workers": 2},
            "ops": _listen(ports.proxy_ops),
            "tls": _certificate(place, "proxy"),
            "main_server": _caller(place, ports, "proxy-client"),
            "redis": {"url": stores.redis("gatepost_proxy"), "queue_name": QUEUE},
            "cache": {"folder": str(place.folder / "proxy")},
        },
        "portal": {
            "server": _listen(ports.portal) | {"workers": 1},
            "ops": _listen(ports.portal_ops),
            "tls": _pair(place, "portal"),
            "main_server": _caller(place, ports, "portal-client"),
        },
        "analytics": _analytics(place, stores),
        "retention": {
            "database": {
                "url": stores.database("gatepost_retention"),
                "keys_schema": "gatepost_keys",
            },
            "keys": {"master_key_file": str(place.secrets / "master.key")},
        },
    }


def _analytics(place: Place, stores: Stores) -> dict[str, Any]:
    """Return the settings of the nightly pipeline, which only `./dev analytics run` starts."""
    return {
        "database": {"url": stores.database("gatepost_analytics")},
        "source": {"url": stores.database("gatepost_lake")},
        "lake": {"uri": f"file://{place.folder.resolve()}/lake"},
        "reports": {"folder": f"{place.folder.resolve()}/reports"},
        "spark": {"jdbc_jar": str(jvm.driver_place()), "driver_memory": "1g"},
    }


def _listen(port: int) -> dict[str, Any]:
    return {"host": HOST, "port": port}


def _certificate(place: Place, name: str) -> dict[str, Any]:
    return _pair(place, name) | {"ca_file": str(place.pki / "ca.pem")}


def _pair(place: Place, name: str) -> dict[str, Any]:
    return {
        "cert_file": str(place.pki / f"{name}.pem"),
        "key_file": str(place.pki / f"{name}.key"),
    }


def _caller(place: Place, ports: Ports, name: str) -> dict[str, Any]:
    """Return the settings of how a service reaches the main server, and what it shows there."""
    url = f"https://{HOST}:{ports.main_server}"
    return {"url": url, "timeout": 10, **_certificate(place, name)}


def _make_master_key(place: Place) -> None:
    file = private_folder(place.secrets) / "master.key"
    if not file.exists():
        write_private(file, secrets.token_bytes(32), mode=0o400)
