"""A holder's certificates, and how to renew them: a partner's pair, or those of what we run."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gatepost.cli.commands import NotInstalled, needs
from gatepost.cli.connection import Connection, find_connection
from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from gatepost.client.files import Files
from gatepost.client.renewing import files_of, renew

SERVICES = "gatepost.cli.services"
"""The module that reads a service's settings. It isn't in what partners install."""


@dataclass(frozen=True, slots=True)
class Held:
    """A certificate's files, and what renews them. `renew` takes whether to ask though it is early,
    and returns whether the certificate was renewed."""

    files: Files
    renew: Callable[[bool], bool]


def find_held(options: Options, config: Path | None) -> list[Held]:
    if config is None:
        where = find_connection(options, os.environ, Path.cwd())
        files = files_of(where.ca, where.cert, where.key)
        return [Held(files, lambda now: _renew(where, files, now))]
    if any((options.url, options.ca, options.cert, options.key, options.proxy)):
        words = "--config names all: give no --url, --ca, --cert, --key, --proxy beside it."
        raise Failure("usage", words)
    try:
        needs(SERVICES, "pydantic", "yaml")
    except NotInstalled as missing:
        words = f"--config is for the machines of the gateway: {missing}."
        raise Failure("usage", words, "pip install 'gatepost[server]'") from None
    from gatepost.cli.services import find_of_service

    return find_of_service(config)


def _renew(where: Connection, files: Files, now: bool) -> bool:
    return renew(where.url, files, only_if_due=not now, proxy=where.proxy)
