"""Prints what doctor has found: first what is wrong, each with its command; then the names of what
is in order."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from gatepost.cli.doctor.look import State
from gatepost.cli.doctor.running import Seen
from gatepost.cli.doctor.site import Site
from gatepost.cli.output import Output
from gatepost.cli.words import plural

WORST_FIRST = (State.WRONG, State.WARNING, State.UNKNOWN, State.OK)
COLOURS = {State.WRONG: "red", State.WARNING: "yellow", State.UNKNOWN: "magenta"}
SAID = {State.WRONG: "wrong", State.WARNING: "warning", State.UNKNOWN: "can't tell"}
INDENT = " " * 12


def tell(output: Output, site: Site, seen: Sequence[Seen]) -> None:
    if output.json:
        for one in seen:
            output.result(document(one))
        output.result(summary(site, seen))
        return
    for group in grouped(worst_first(seen)):
        _tell_troubles(output, group)
    fine = in_order(seen)
    if fine:
        output.say(("in order    ", "green"), ", ".join(fine))
    counts = [
        f"{_count(seen, state)} {SAID[state]}" for state in WORST_FIRST[:-1] if _count(seen, state)
    ]
    summing = ", ".join([*counts, f"{_count(seen, State.OK)} in order"])
    output.say((f"{plural(len(seen), 'finding')} in {site.folder}: {summing}.", "bold"))


def tell_archive(output: Output, file: Path) -> None:
    if output.json:
        output.result({"archive": str(file)})
    else:
        output.say(f"{file} is for support. Look through it before you give it away.")


def document(one: Seen) -> dict[str, Any]:
    found = one.finding
    said = {"look": one.look.name, "state": found.state.value, "found": found.found}
    return said if one.command is None else said | {"why": one.look.why, "command": one.command}


def summary(site: Site, seen: Sequence[Seen]) -> dict[str, Any]:
    counts = {state.value: _count(seen, state) for state in WORST_FIRST}
    return {"folder": str(site.folder), "counts": counts}


def worst_first(seen: Sequence[Seen]) -> Iterator[Seen]:
    """Yield what isn't in order, worst first; within a state in the order of the looks."""
    for state in WORST_FIRST[:-1]:
        yield from (one for one in seen if one.finding.state is state)


def in_order(seen: Sequence[Seen]) -> list[str]:
    """Return the names of the looks that found nothing but what is in order."""
    names = dict.fromkeys(one.look.name for one in seen)
    troubled = {one.look.name for one in worst_first(seen)}
    return [name for name in names if name not in troubled]


def grouped(seen: Iterable[Seen]) -> Iterable[list[Seen]]:
    """Group what is told together: all of one look, or all that can't be told for one reason."""
    groups: dict[tuple[str | None, ...], list[Seen]] = {}
    for one in seen:
        state, found = one.finding.state, one.finding.found
        why = (found, one.command) if state is State.UNKNOWN else (one.look.name,)
        groups.setdefault((state, *why), []).append(one)
    return groups.values()


def _tell_troubles(output: Output, group: list[Seen]) -> None:
    state, first = group[0].finding.state, group[0]
    names = dict.fromkeys(one.look.name for one in group)
    why = f"  {first.look.why}" if len(names) == 1 else ""
    output.say((f"{SAID[state]:<12}", COLOURS[state]), (", ".join(names), "bold"), (why, "dim"))
    for command, same in groupby(group, lambda one: one.command):
        for found in dict.fromkeys(one.finding.found for one in same):
            output.say(f"{INDENT}{found}")
        output.say(f"{INDENT}$ {command}")


def _count(seen: Sequence[Seen], state: State) -> int:
    return sum(one.finding.state is state for one in seen)
