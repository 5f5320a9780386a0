"""What a holder has, and how each of it is renewed: a partner's pair, or those of what we run."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

from pydantic import ConfigDict

from gatepost.cli.commands import GROUP
from gatepost.cli.connection import find_connection
from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from gatepost.client.files import Files
from gatepost.client.renewing import files_of, renew
from gatepost.errors import ConfigurationError
from gatepost.settings import MainServer, ServiceSettings, Tls, load
from gatepost.tls import TlsFiles

OWN = f"{GROUP}.own"
"""The entry point by which a main server's own certificate is renewed, where its CA is."""


class HolderOnly(ServiceSettings):
    """The part of a service's settings that says which certificates it has."""

    model_config = ConfigDict(extra="ignore")
    tls: Tls | None = None
    main_server: MainServer | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A certificate's files, and what renews them and says whether it did, given whether to ask
    though it is early."""

    files: Files
    renew: Callable[[bool], bool]


def find_held(options: Options, config: Path | None) -> list[Held]:
    if config is None:
        where = find_connection(options, os.environ, Path.cwd())
        files = files_of(where.ca, where.cert, where.key)
        return [Held(files, lambda now: renew(where.url, files, only_if_due=not now))]
    if any((options.url, options.ca, options.cert, options.key)):
        raise Failure("usage", "--config names all: give no --url, --ca, --cert, --key beside it.")
    try:
        return _of_service(config, load(HolderOnly, config))
    except ConfigurationError as error:
        raise Failure("usage", error.detail) from None


def _of_service(config: Path, settings: HolderOnly) -> list[Held]:
    """First the one by which the main server is called: with it the other is asked for."""
    calls, shows = settings.main_server, settings.tls
    called = _files(shows.files()) if shows else None
    if calls is None:
        if called is None:
            raise Failure("usage", f"{config} names no certificate: neither tls nor main_server.")
        return [Held(called, partial(_renew_own, config, called))]
    mine, url = _files(calls.files()), calls.url
    held = [Held(mine, lambda now: renew(url, mine, only_if_due=not now))]
    if called is not None:
        held.append(Held(called, lambda now: renew(url, called, only_if_due=not now, shown=mine)))
    return held


def _files(files: TlsFiles) -> Files:
    return files_of(files.ca_file, files.cert_file, files.key_file)


def _renew_own(config: Path, files: Files, now: bool) -> bool:
    for entry in entry_points(group=OWN):
        own: Callable[..., bool] = entry.load()
        return own(config, files, only_if_due=not now)
    words = f"{config} is a main server's, which isn't installed here."
    raise Failure("usage", words, "pip install 'gatepost[server]'")
