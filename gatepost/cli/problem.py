"""`gatepost problem`: what a refusal means, and what to do about it."""

from textwrap import fill
from typing import Annotated

import typer


def problem(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[TYPE]", help="The type of a problem, or its last part.", show_default=False
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="JSON lines on stdout.")] = False,
) -> None:
    """Say what the problem of that type means and what to do; without one, list them all."""
    from gatepost.cli.failure import Failure
    from gatepost.cli.output import Output
    from gatepost.explaining import explain, explanations

    output = Output(json=json)
    if name is None:
        for one in explanations().values():
            if json:
                output.result(one.document())
            else:
                output.say(f"{one.kind.status}  ", (f"{one.kind.slug:<24}", "bold"), one.kind.title)
        return
    found = explain(name)
    if found is None:
        hint = "`gatepost problem` lists them; yours may be of another release, or not ours."
        raise Failure("not-found", "There is no problem of this type.", hint)
    if json:
        output.result(found.document())
        return
    output.say((found.kind.title, "bold"), f", status {found.kind.status}")
    for head, words in (
        ("When it comes", found.when),
        ("What to do", found.do),
        ("Send it again?", found.repeat.words),
    ):
        output.say(f"\n{head}\n", fill(words, 96, initial_indent="  ", subsequent_indent="  "))
