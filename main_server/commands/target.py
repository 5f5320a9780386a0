"""The certificates that a command is about: all those of a name, or one of them."""

from dataclasses import dataclass
from typing import Annotated

import typer

from gatepost.cli.options import spread
from gatepost.trust.identity import Role

RoleOption = Annotated[Role | None, typer.Option(help="Of this role only.")]


@dataclass(frozen=True, slots=True)
class Target:
    name: str | None
    serial: str | None
    fingerprint: str | None
    role: Role | None


def _declared(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="name, name.domain or domain:name.", show_default=False
        ),
    ] = None,
    serial: Annotated[str | None, typer.Option(metavar="HEX", help="By its serial number.")] = None,
    fingerprint: Annotated[str | None, typer.Option(metavar="HEX", help="By its SHA-256.")] = None,
    role: RoleOption = None,
) -> Target:
    return Target(name, serial, fingerprint, role)


with_target = spread(_declared)
"""Give a command the parameters that say which certificates; it gets them as its first argument, a
Target."""
