"""`gatepost user`: create, list, change, disable, enable, reset, reset-second-step, sign-out,
break-glass.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs. No
password is ever an argument: people set theirs by a link that is good for one time.
"""

from typing import Annotated

import typer

from gatepost.cli.commands import needs
from gatepost.wire.people import UserRole
from main_server.commands.options import ConfigFile, Json

needs("argon2", "msgspec", "pymysql", "sqlalchemy")

user = typer.Typer(
    help="People who sign in to the portal. Run these with the main server's settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME@DOMAIN",
        help="A super-administrator's name has no domain.",
        show_default=False,
    ),
]


@user.command()
def create(
    name: Name,
    role: Annotated[UserRole, typer.Option(help="What they may do.")] = UserRole.USER,
    client: Annotated[
        list[str] | None,
        typer.Option("--client", metavar="NAME", help="Whose messages they see; may be repeated."),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Add somebody, and show the link by which they set their password.

    \b
    user         sees the messages of the clients that are named
    admin        sees the domain's messages, and looks after it
    super-admin  looks after all domains
    """
    from main_server.commands import user as commands

    commands.create(config, name, role, client or [], json=json)


@user.command("list")
def list_users(
    config: ConfigFile = None,
    domain: Annotated[str | None, typer.Option(help="Of this domain only.")] = None,
    json: Json = False,
) -> None:
    """Show who there is, and when they last signed in."""
    from main_server.commands import user as commands

    commands.list_all(config, domain, json=json)


@user.command()
def disable(name: Name, config: ConfigFile = None, json: Json = False) -> None:
    """Sign somebody out everywhere, and let them in no more."""
    from main_server.commands import user as commands

    commands.disable(config, name, json=json)


@user.command()
def enable(name: Name, config: ConfigFile = None, json: Json = False) -> None:
    """Let somebody in again."""
    from main_server.commands import user as commands

    commands.enable(config, name, json=json)


@user.command()
def reset(name: Name, config: ConfigFile = None, json: Json = False) -> None:
    """Show a link by which somebody sets a new password: good once, for a day."""
    from main_server.commands import user as commands

    commands.reset(config, name, json=json)


@user.command()
def change(
    name: Name,
    role: Annotated[UserRole | None, typer.Option(help="What they may do from now on.")] = None,
    client: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            metavar="NAME",
            help="Whose messages they see, all of them; may be repeated.",
        ),
    ] = None,
    no_clients: Annotated[
        bool, typer.Option("--no-clients", help="They see no client's messages.")
    ] = False,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Give somebody another role, or other clients. Another role signs them out everywhere."""
    from main_server.commands import user as commands

    commands.change(config, name, role, [] if no_clients else client, json=json)


@user.command("reset-second-step")
def reset_second_step(name: Name, config: ConfigFile = None, json: Json = False) -> None:
    """For who has lost phone and recovery codes: sign them out, and ask for no code.

    Who administers sets up another authenticator when they sign in next, before anything else.
    """
    from main_server.commands import user as commands

    commands.reset_second_step(config, name, json=json)


@user.command("sign-out")
def sign_out(name: Name, config: ConfigFile = None, json: Json = False) -> None:
    """End all of somebody's sessions, at once."""
    from main_server.commands import user as commands

    commands.sign_out(config, name, json=json)


@user.command("break-glass")
def break_glass(config: ConfigFile = None, json: Json = False) -> None:
    """When nobody else can get in: a new super-administrator, by a link that lives 15 minutes.

    The audit log says so, and who did it; and again whenever they sign in. For a day they are asked
    for no second step. Disable the account when the trouble is over.
    """
    from main_server.commands import user as commands

    commands.break_glass(config, json=json)
