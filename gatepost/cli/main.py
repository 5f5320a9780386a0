"""The entry point of `gatepost`: parses, runs, and turns failures into words and an exit code.

Nothing that goes wrong shows a traceback: it could hold what was to be sent.
"""

import json
import sys
from pathlib import Path
from textwrap import indent
from typing import Annotated, Any

import typer
from typer.main import get_command

from gatepost import __version__
from gatepost.cli.cert import cert
from gatepost.cli.commands import Commands
from gatepost.cli.enrol import enrol
from gatepost.cli.failure import EXIT_OF_KIND, Failure, exits_text
from gatepost.cli.message import message
from gatepost.cli.problem import problem
from gatepost.cli.whoami import whoami

_EPILOG = """\
\b
The gateway and the certificate to use, the first that is found:
  the options --url, --ca, --cert and --key of each command
  GATEPOST_URL, GATEPOST_CA, GATEPOST_CERT and GATEPOST_KEY
  url, ca, cert and key in ~/.config/gatepost/config.toml, as `gatepost enrol` writes it
  var/status.json of the checkout that this folder is in (`./dev up`)

\b
With --json, results are JSON lines on stdout, and an error is one JSON object on stderr.

"""

app = typer.Typer(
    cls=Commands,
    help="Send messages through a Gatepost gateway, and follow them.",
    epilog=_EPILOG + exits_text(),
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.add_typer(cert, name="cert")
app.add_typer(message, name="message")
app.command()(enrol)
app.command()(problem)
app.command()(whoami)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"gatepost {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command that the arguments mean; return its exit code."""
    try:
        code = get_command(app).main(arguments, prog_name="gatepost", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except Failure as failure:
        return _report(failure, arguments)
    except typer.TyperException as error:
        return _report_usage(error, arguments)
    except typer.Abort:
        return _report(Failure("interrupted", "Interrupted."), arguments)
    except Exception as error:
        return _report(_fault(error), arguments)


def _report(failure: Failure, arguments: list[str]) -> int:
    if "--json" in arguments:
        typer.echo(json.dumps({"error": failure.document()}), err=True)
        return failure.exit_code
    details = failure.details
    places = [f"{place['pointer']}: {place['detail']}" for place in details.get("errors", ())]
    message = details["detail"] if places else failure.message
    typer.echo(typer.style("gatepost: ", fg="red") + message, err=True)
    request = f"Request {details['request_id']}." if details.get("request_id") else None
    for line in (*places, failure.hint, request):
        if line:
            typer.echo(indent(line, "  "), err=True)
    return failure.exit_code


def _report_usage(error: typer.TyperException, arguments: list[str]) -> int:
    context: Any = getattr(error, "ctx", None)
    if context is None:
        return _report(Failure("usage", error.format_message()), arguments)
    if error.message == context.get_help():
        # A group was called without a command.
        typer.echo(error.message, err=True)
        return EXIT_OF_KIND["usage"]
    hint = f"See `{context.command_path} --help`."
    return _report(Failure("usage", error.format_message(), hint), arguments)


def _fault(error: Exception) -> Failure:
    """Return a mistake of ours as a failure: its kind and place, but not its words, which may hold
    what was sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    words = f"This is a fault of this command: {type(error).__name__}{place}."
    return Failure("fault", words, "Please report it with this line and the version.")
