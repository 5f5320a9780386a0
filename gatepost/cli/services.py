"""Finds the certificates of what we run, by its settings, and how each of them is renewed.

This is for the machines of the gateway: it needs their libraries, which a partner hasn't got.
"""

from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding
from pydantic import ConfigDict

from gatepost.cli.commands import GROUP
from gatepost.cli.failure import Failure
from gatepost.cli.holding import Held
from gatepost.client.files import Files
from gatepost.client.renewing import files_of, renew
from gatepost.config.settings import Block, MainServer, ServiceSettings, load
from gatepost.errors import BadIdentity, ConfigurationError
from gatepost.trust.identity import Certificate

OWN = f"{GROUP}.own"
"""The entry point that renews a main server's own certificate, where its CA is."""


class Shown(Block):
    """By which a service is called. Of a portal it may be of a CA that browsers trust already."""

    model_config = ConfigDict(extra="ignore")
    cert_file: Path
    key_file: Path
    ca_file: Path | None = None


class HolderOnly(ServiceSettings):
    """The part of a service's settings that says which certificates it has."""

    model_config = ConfigDict(extra="ignore")
    tls: Shown | None = None
    main_server: MainServer | None = None


def find_of_service(config: Path) -> list[Held]:
    """Return a service's certificates, by its settings; raise Failure if these can't be used."""
    try:
        return _of_service(config, load(HolderOnly, config))
    except ConfigurationError as error:
        raise Failure("usage", error.detail) from None


def _of_service(config: Path, settings: HolderOnly) -> list[Held]:
    """Return the service's certificates: first the one with which it calls the main server, since
    with it the other is asked for."""
    calls, shows = settings.main_server, settings.tls
    if calls is None:
        if shows is None or shows.ca_file is None:
            raise Failure("usage", f"{config} names no certificate: neither tls nor main_server.")
        own = files_of(shows.ca_file, shows.cert_file, shows.key_file)
        return [Held(own, partial(_renew_own, config, own))]
    mine, url = files_of(calls.ca_file, calls.cert_file, calls.key_file), calls.url
    held = [Held(mine, lambda now: renew(url, mine, only_if_due=not now))]
    if shows is None:
        return held
    called = files_of(shows.ca_file or calls.ca_file, shows.cert_file, shows.key_file)
    if _is_ours(called):
        held.append(Held(called, lambda now: renew(url, called, only_if_due=not now, shown=mine)))
    return held


def _is_ours(files: Files) -> bool:
    try:
        return bool(Certificate(files.leaf().public_bytes(Encoding.DER)).identity)
    except BadIdentity:
        return False


def _renew_own(config: Path, files: Files, now: bool) -> bool:
    for entry in entry_points(group=OWN):
        own: Callable[..., bool] = entry.load()
        return own(config, files, only_if_due=not now)
    words = f"{config} is a main server's, which isn't installed here."
    raise Failure("usage", words, "pip install 'gatepost[server]'")
