"""Examines the machine, for `gatepost doctor`: looks, tells, and writes the archive for support."""

from collections.abc import Sequence
from pathlib import Path

import typer

from gatepost.cli.configuration import FOLDER
from gatepost.cli.doctor import telling
from gatepost.cli.doctor.archive import check_place, write_archive
from gatepost.cli.doctor.look import Look, State
from gatepost.cli.doctor.reference import page
from gatepost.cli.doctor.registry import all_looks
from gatepost.cli.doctor.running import Seen, run_all
from gatepost.cli.doctor.site import find_site
from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.safety import forbid_core_dumps

EXITS = ((State.WRONG, 2), (State.WARNING, 1), (State.UNKNOWN, 3))
"""The exit codes of monitoring plugins; the first state in this list that was found counts."""


def examine(
    folder: Path | None,
    names: Sequence[str],
    without: Sequence[str],
    archive: Path | None,
    *,
    json: bool,
) -> None:
    forbid_core_dumps()
    output, looks = Output(json=json), chosen(all_looks(), names, without)
    if archive is not None:
        check_place(archive)
    site = find_site(folder or FOLDER, Path.cwd(), given=folder is not None)
    with output.busy("Looking …"):
        seen = run_all(looks, site)
    telling.tell(output, site, seen)
    if archive is not None:
        with output.busy("Writing the archive …"):
            write_archive(archive, site, seen)
        telling.tell_archive(output, archive)
    raise typer.Exit(exit_code(seen))


def chosen(looks: list[Look], names: Sequence[str], without: Sequence[str]) -> list[Look]:
    known = {look.name for look in looks}
    if strange := [name for name in (*names, *without) if name not in known]:
        hint = f"There are: {', '.join(look.name for look in looks)}."
        raise Failure("usage", f"There is no look {', '.join(strange)}.", hint)
    wanted = [look for look in looks if not names or look.name in names]
    return [look for look in wanted if look.name not in without]


def exit_code(seen: Sequence[Seen]) -> int:
    states = {one.finding.state for one in seen}
    return next((code for state, code in EXITS if state in states), 0)


def write_reference() -> None:
    typer.echo(page(all_looks()), nl=False)
