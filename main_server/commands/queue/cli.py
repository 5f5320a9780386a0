"""`gatepost queue`: list, stats, peek, pause, resume, redrive, redrives, purge.

Declarations only: `gatepost --help` imports this module, so each command imports what it needs.
"""

from datetime import datetime
from typing import Annotated

import typer

from gatepost.cli.commands import needs
from main_server.commands.options import ConfigFile, DryRun, Json, Yes

needs("msgspec", "pymysql", "redis", "sqlalchemy")

queue = typer.Typer(
    help="The queues: look into them, pause them. Run these with the main server's settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[
    str,
    typer.Argument(metavar="QUEUE|DOMAIN", help="A queue, or a domain's own.", show_default=False),
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="WORDS", help="Why; the audit log keeps it.")
]
Client = Annotated[
    str | None, typer.Option("--client", metavar="DOMAIN:NAME", help="One client's alone.")
]


@queue.command("list")
def list_queues(config: ConfigFile = None, json: Json = False) -> None:
    """Show each queue: how much waits where, for how long, whose it is, and if it is paused."""
    from main_server.commands.queue import looking

    looking.list_all(config, json=json)


@queue.command()
def stats(
    name: Name,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Show a queue by partition and priority.

    It works with the ledger away, too, for a queue that is called by its own name.
    """
    from main_server.commands.queue import looking

    looking.stats(config, name, json=json)


@queue.command()
def peek(
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="So many at most.")] = 20,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Show what waits, the next ones first: whose, since when, how often tried. Never what it says.

    It works with the ledger away, too, for a queue that is called by its own name.
    """
    from main_server.commands.queue import looking

    looking.peek(config, name, limit, json=json)


@queue.command()
def pause(name: Name, reason: Reason, config: ConfigFile = None, json: Json = False) -> None:
    """Deliver nothing from a queue until it is resumed. Intake goes on, and so does the time that
    messages have: what expires meanwhile has failed."""
    from main_server.commands import intake as commands

    commands.pause_queue(config, name, reason, json=json)


@queue.command()
def resume(
    name: Name,
    reason: Annotated[str, typer.Option(metavar="WORDS", help="Why; the audit log keeps it.")] = "",
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Deliver from a queue again."""
    from main_server.commands import intake as commands

    commands.resume_queue(config, name, reason, json=json)


@queue.command()
def redrive(  # noqa: PLR0913 (one for each option)
    reason: Reason,
    domain: Annotated[
        str | None, typer.Option(metavar="DOMAIN", help="One domain's alone.")
    ] = None,
    client: Client = None,
    failed_for: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What failed for this: attempts_used, expired, key_conflict …"
        ),
    ] = None,
    begin: Annotated[
        datetime | None, typer.Option("--from", help="Accepted from then on, UTC; else 30 days.")
    ] = None,
    end: Annotated[datetime | None, typer.Option("--to", help="Accepted before then, UTC.")] = None,
    rate: Annotated[int, typer.Option(min=1, max=500, help="Messages a second.")] = 50,
    dry_run: DryRun = False,
    yes: Yes = False,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Deliver after all what has failed. The main servers do it, whichever of them run.

    What was discarded, or can't be read, stays as it is.
    """
    from main_server.commands.queue import redriving

    given = redriving.Given(reason, domain, client, failed_for, begin, end, rate)
    redriving.redrive(config, given, dry_run=dry_run, yes=yes, json=json)


@queue.command()
def redrives(
    stop: Annotated[str | None, typer.Option(metavar="ID", help="Stop this one first.")] = None,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Show the latest redrives and how far they are; or stop one."""
    from main_server.commands.queue import redriving

    redriving.redrives(config, stop, json=json)


@queue.command()
def purge(
    name: Name,
    reason: Reason,
    client: Client = None,
    dead: Annotated[
        bool, typer.Option("--dead", help="Forget what Redis remembers of failed ones instead.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    config: ConfigFile = None,
    json: Json = False,
) -> None:
    """Discard what waits: it has failed then, for good, and the audit log names each message.

    What is accepted while this works is not meant. With --dead nothing is discarded: why a message
    failed stays in the ledger.
    """
    from main_server.commands.queue import purging

    given = purging.Given(name, reason, client)
    if dead:
        purging.forget_dead(config, given, dry_run=dry_run, json=json)
    else:
        purging.purge(config, given, dry_run=dry_run, yes=yes, json=json)
