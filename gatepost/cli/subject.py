"""`gatepost subject`: what administrators do for a data subject's request.

Declarations only, so that --help is quick.
"""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from gatepost.cli.failure import Failure
from gatepost.cli.options import Options, with_options

subject = typer.Typer(
    help="A data subject's request: report all messages of a number. It takes two administrators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_REPORT_HELP = """Ask for a report of all messages of a number, or fetch one that was approved.

\b
Without options it asks; the number is read from stdin, never given as an argument:
  gatepost subject report < number.txt
It says how many messages there are, and by which command another administrator approves.
Within a day, whoever has asked fetches it, into a new file that nobody else can read:
  gatepost subject report --id ID --output FILE

Call the main server, with the certificate of an administrator. All of it is in the audit log."""

_NEVER_ARGUMENTS = (
    "Numbers are never arguments: everyone on this machine could see them. Give it on stdin."
)

ReportId = Annotated[
    str, typer.Argument(metavar="ID", help="As `gatepost subject list` says.", show_default=False)
]


@subject.callback()
def root() -> None:
    pass


@subject.command(
    help=_REPORT_HELP,
    short_help="Ask for a report of all messages of a number, or fetch it.",
    # This keeps the words that refuse what is given by mistake from saying it again.
    context_settings={"allow_extra_args": True},
)
@with_options
def report(
    options: Options,
    context: typer.Context,
    report_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Fetch this one.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A new file for it, as JSON; - is stdout."),
    ] = None,
) -> None:
    if context.args:
        raise Failure("usage", _NEVER_ARGUMENTS, "See `gatepost subject report --help`.")
    if (report_id is None) != (output is None):
        raise Failure("usage", "To fetch a report, give both --id and --output.")
    from gatepost.cli import reporting

    if report_id is None or output is None:
        reporting.ask(options)
    else:
        reporting.fetch(options, _checked(report_id), output)


@subject.command(name="list")
@with_options
def list_(options: Options) -> None:
    """List the reports that were asked for and aren't over: by whom, since when, how many messages.

    An administrator of a domain sees that domain's. No list says which number it was.
    """
    from gatepost.cli import reporting

    reporting.list_open(options)


@subject.command()
@with_options
def approve(options: Options, report_id: ReportId) -> None:
    """Approve a report that another administrator has asked for.

    Nobody approves their own. Look first at who asks for how many messages: gatepost subject list
    """
    from gatepost.cli import reporting

    reporting.approve(options, _checked(report_id))


def _checked(report_id: str) -> str:
    """Return the id, or refuse it without repeating it: it may be a number in the wrong place."""
    try:
        return str(UUID(report_id))
    except ValueError:
        words = "That is not the id of a report: it is a UUID, as `gatepost subject list` says it."
        raise Failure("usage", words) from None
