"""The options that every command of a client has, declared once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer


@dataclass(frozen=True, slots=True)
class Options:
    """The options that say how to reach the gateway, and how to say what came of it."""

    url: str | None
    ca: Path | None
    cert: Path | None
    key: Path | None
    retry_for: float
    json: bool
    verbose: bool
    proxy: str | None = None


def _shared(
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="The gateway. [GATEPOST_URL]")
    ] = None,
    ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The CA to trust, PEM. [GATEPOST_CA]")
    ] = None,
    cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your certificate, PEM. [GATEPOST_CERT]")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its key, PEM. [GATEPOST_KEY]")
    ] = None,
    retry_for: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="How long to go on trying, under the same key."
        ),
    ] = 5.0,
    json: Annotated[
        bool, typer.Option("--json", help="Results as JSON lines; an error as JSON on stderr.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say on stderr what is done and with what.")
    ] = False,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An HTTP proxy on the way. [GATEPOST_PROXY]"),
    ] = None,
) -> Options:
    return Options(url, ca, cert, key, retry_for, json, verbose, proxy)


Command = Callable[..., None]


def spread(declared: Callable[..., Any]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command the parameters of `declared` beside its own; what
    `declared` makes of them is the command's first argument."""
    given = signature(declared).parameters

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(**arguments: Any) -> None:
            made = declared(**{name: arguments.pop(name) for name in given})
            command(made, **arguments)

        own = list(signature(command).parameters.values())[1:]
        parameters = [
            parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in (*own, *given.values())
        ]
        run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


with_options = spread(_shared)
"""Give a command the shared options; it gets them as its first argument, an Options."""
