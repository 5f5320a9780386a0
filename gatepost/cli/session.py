"""Opens a client of the gateway for the length of a command, and turns its errors into the
command's failures."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from gatepost.cli.connection import Connection, find_connection
from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from gatepost.client import (
    Client,
    GatepostError,
    NotFound,
    OutcomeUnknown,
    Unavailable,
    UnexpectedAnswer,
)
from gatepost.client.connection import BAD_PROXY, without_password
from gatepost.explaining import explain


@dataclass(frozen=True, slots=True)
class Session:
    """An open client, and the connection that it uses."""

    client: Client
    connection: Connection

    def failure(self, error: GatepostError) -> Failure:
        return _failure(error, self.connection)


@contextmanager
def session(options: Options) -> Iterator[Session]:
    connection = find_connection(options, os.environ, Path.cwd())
    aside = _told(connection) if options.verbose else nullcontext()
    try:
        with aside, _client(connection, options.retry_for) as client:
            yield Session(client, connection)
    except GatepostError as error:
        raise _failure(error, connection) from error


def _client(connection: Connection, retry_for: float) -> Client:
    try:
        return Client(
            connection.url,
            ca=connection.ca,
            cert=connection.cert,
            key=connection.key,
            proxy=connection.proxy,
            retry_for=retry_for,
            renew=False,  # a command that sends does that; `gatepost cert renew` renews
        )
    except ValueError as error:
        words = "The address of the gateway is not https://host:port."
        origin = connection.origin["url"]
        if str(error) == BAD_PROXY:
            words, origin = (
                "The address of the proxy is not http://host:port.",
                _of_proxy(connection),
            )
        raise Failure("usage", words, f"It comes from {origin}.") from None


def _of_proxy(connection: Connection) -> str:
    return connection.origin.get("proxy", "nowhere")


def _failure(error: GatepostError, connection: Connection) -> Failure:
    return Failure(
        error.kind,
        str(error),
        _hint(error, connection),
        type=error.type,
        title=error.title,
        detail=error.detail if error.problem else None,
        status=error.problem.status if error.problem else None,
        errors=[{"pointer": e.pointer, "detail": e.detail} for e in error.errors],
        retry_after=getattr(error, "retry_after", None),
        request_id=error.request_id,
        idempotency_key=error.idempotency_key,
    )


def _hint(error: GatepostError, connection: Connection) -> str | None:
    if isinstance(error, OutcomeUnknown) and error.idempotency_key:
        return f"Its idempotency key is {error.idempotency_key}."
    silent = isinstance(error, Unavailable) and error.problem is None
    if silent or isinstance(error, UnexpectedAnswer):
        return f"The address is {connection.url}, from {connection.origin['url']}."
    if isinstance(error, NotFound):
        return "No message of this client has that id."
    if error.kind == "certificate":
        return (
            f"In use: {connection.url} with --ca {connection.ca} --cert {connection.cert} "
            f"--key {connection.key}"
        )
    known = explain(error.type) if error.type else None
    return f"More: gatepost problem {known.kind.slug}" if known else None


@contextmanager
def _told(connection: Connection) -> Iterator[None]:
    """Print what --verbose shows: each setting and its origin, and each new try as it happens."""
    for name, place in connection.origin.items():
        value = without_password(getattr(connection, name))
        sys.stderr.write(f"{name:<5} {value}  (from {place})\n")
    tries = logging.StreamHandler(sys.stderr)
    tries.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("gatepost.client")
    logger.setLevel(logging.INFO)
    logger.addHandler(tries)
    try:
        yield
    finally:
        logger.removeHandler(tries)
