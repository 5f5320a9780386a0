"""`gatepost ca`, `gatepost crl`, and the operator's part of `gatepost cert`.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
They work on the ledger and the CA's folder, so they do it with the main server down.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gatepost.bounds import MOST_DAYS, MOST_MINUTES
from gatepost.cli.commands import needs
from gatepost.trust.identity import Role
from main_server.commands.options import ConfigFile, DryRun, Json, Yes
from main_server.commands.target import RoleOption, Target, with_target

needs("msgspec", "pymysql", "redis", "sqlalchemy")

ca = typer.Typer(
    help="The certificate authority. Run these on its machine, with the main server's settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
cert = typer.Typer(rich_markup_mode=None)
crl = typer.Typer(help="The lists of what is revoked.", no_args_is_help=True, rich_markup_mode=None)


class UsageName(StrEnum):
    CLIENT = "client"
    SERVER = "server"


class StatusName(StrEnum):
    ACTIVE = "active"
    HELD = "held"
    REVOKED = "revoked"
    EXPIRED = "expired"
    INTENDED = "intended"


class ReasonName(StrEnum):
    UNSPECIFIED = "unspecified"
    KEY_COMPROMISE = "keyCompromise"
    AFFILIATION_CHANGED = "affiliationChanged"
    SUPERSEDED = "superseded"
    CESSATION_OF_OPERATION = "cessationOfOperation"
    PRIVILEGE_WITHDRAWN = "privilegeWithdrawn"


Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="name, name.domain or domain:name.", show_default=False),
]


@ca.command("init")
def init(config: ConfigFile = None, json: Json = False) -> None:
    """Make root and intermediate, unless they are there. Then take the root's key offline."""
    from main_server.commands import ca as ca_commands

    ca_commands.init(config, json=json)


@ca.command("status")
def status(config: ConfigFile = None, json: Json = False) -> None:
    """Show the CA's certificates and lists, and how many certificates each has signed."""
    from main_server.commands import ca as ca_commands

    ca_commands.status(config, json=json)


@ca.command("pins")
def pins(config: ConfigFile = None) -> None:
    """Write to stdout what all peers are to trust now: their CA file."""
    from main_server.commands import ca as ca_commands

    ca_commands.pins(config)


@ca.command("prepare")
def prepare(config: ConfigFile = None, json: Json = False) -> None:
    """Make the next intermediate, so that it is trusted before it signs. Needs the root's key."""
    from main_server.commands import ca as ca_commands

    ca_commands.prepare(config, json=json)


@ca.command("switch")
def switch(config: ConfigFile = None, yes: Yes = False, json: Json = False) -> None:
    """Let the next intermediate sign; the one before is retiring, and all may renew at once."""
    from main_server.commands import ca as ca_commands

    ca_commands.switch(config, yes=yes, json=json)


@ca.command("retire")
def retire(
    config: ConfigFile = None, yes: Yes = False, dry_run: DryRun = False, json: Json = False
) -> None:
    """Revoke what the retiring intermediate has signed, and trust it no longer."""
    from main_server.commands import ca as ca_commands

    ca_commands.retire(config, yes=yes, dry_run=dry_run, json=json)


@cert.command("issue")
def issue(  # noqa: PLR0913 - each is an option
    name: Name,
    config: ConfigFile = None,
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.CLIENT,
    usage: Annotated[
        UsageName | None, typer.Option(help="For a proxy or portal: to call, or to be called.")
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Of a server; can be repeated.")
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0, max=MOST_DAYS, help="Shorter than the role's lifetime.")
    ] = None,
    csr: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certify this request's key.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where NAME.pem, NAME.key and ca.pem go.")
    ] = Path(),
    pkcs12_password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write NAME.p12, under its first line, not NAME.key."),
    ] = None,
    json: Json = False,
) -> None:
    """Issue a certificate: for the key of a request, or with a key that is made here."""
    from main_server.commands import cert as cert_commands

    wanted = cert_commands.Wanted(
        name, role, usage.value if usage else None, tuple(host or ()), days, csr
    )
    cert_commands.issue(config, wanted, out, pkcs12_password_file, json=json)


@cert.command("register")
def register(
    name: Name,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The certificate, PEM.", show_default=False)
    ],
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Make a certificate of a partner's own CA known: as NAME's, whatever it says itself.

    Its CA must be a trust anchor of that domain (gatepost anchor add).
    """
    from main_server.commands import anchor as commands

    commands.register(config, name, file, json=json)


@cert.command("token")
def token(
    name: Name,
    config: ConfigFile = None,
    minutes: Annotated[
        float, typer.Option(min=1, max=MOST_MINUTES, help="How long it is good.")
    ] = 60,
    json: Json = False,
) -> None:
    """Make a token for a client to enrol with, once. It is shown now, and kept nowhere."""
    from main_server.commands import cert as cert_commands

    cert_commands.token(config, name, minutes, json=json)


@cert.command("list")
def list_(
    config: ConfigFile = None,
    domain: Annotated[str | None, typer.Option(help="Of this domain only.")] = None,
    role: RoleOption = None,
    name: Annotated[str | None, typer.Option(help="Of this name only.")] = None,
    status: Annotated[StatusName | None, typer.Option(help="In this status only.")] = None,
    expiring: Annotated[
        float | None,
        typer.Option(metavar="DAYS", min=0, max=MOST_DAYS, help="That expire so soon."),
    ] = None,
    json: Json = False,
) -> None:
    """List certificates: one line each; as JSON, one document a line."""
    from main_server.commands import cert as cert_commands

    shown = cert_commands.Shown(domain, role, name, status.value if status else None, expiring)
    cert_commands.list_all(config, shown, json=json)


@cert.command("show")
@with_target
def show(
    target: Target,
    config: ConfigFile = None,
    pem: Annotated[bool, typer.Option("--pem", help="Write the certificates as PEM.")] = False,
    json: Json = False,
) -> None:
    """Show the certificates of a name, or one of them."""
    from main_server.commands import cert as cert_commands

    cert_commands.show(config, target, pem=pem, json=json)


@cert.command("revoke")
@with_target
def revoke(
    target: Target,
    reason: Annotated[ReasonName, typer.Option(help="RFC 5280's.")] = ReasonName.UNSPECIFIED,
    config: ConfigFile = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Revoke all certificates of a name, or one of them. This can't be undone."""
    from main_server.commands import cert as cert_commands

    cert_commands.revoke(config, target, reason.value, yes=yes, dry_run=dry_run, json=json)


@cert.command("hold")
@with_target
def hold(
    target: Target,
    config: ConfigFile = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Refuse all certificates of a name, or one of them, until they are released."""
    from main_server.commands import cert as cert_commands

    cert_commands.revoke(config, target, "certificateHold", yes=yes, dry_run=dry_run, json=json)


@cert.command("release")
@with_target
def release(
    target: Target,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """End the hold of all certificates of a name, or of one of them."""
    from main_server.commands import cert as cert_commands

    cert_commands.release(config, target, json=json)


@crl.command("show")
def show_crl(config: ConfigFile = None, json: Json = False) -> None:
    """Show the lists as they are published: their numbers, times and entries."""
    from main_server.commands import ca as ca_commands

    ca_commands.show_crl(config, json=json)


@crl.command("publish")
def publish(config: ConfigFile = None, json: Json = False) -> None:
    """Sign the lists anew, and publish them. A running main server does it every hour."""
    from main_server.commands import ca as ca_commands

    ca_commands.publish(config, json=json)
