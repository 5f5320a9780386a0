"""Steps as data: what each would do, whether it is so already, and how it is done.

A step that was done must then say so by itself. One that fails says what had been done before it;
run again, those are passed over, and it goes on from there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field


class Failure(Exception):
    """The installation can't go on. The text is for the operator: why, and what to run."""


@dataclass(frozen=True)
class Step:
    what: str
    is_done: Callable[[], bool]
    do: Callable[[], object]


@dataclass
class Report:
    """The steps that changed something, in order."""

    changed: list[str] = field(default_factory=list)


def show(steps: Iterable[Step], say: Callable[[str], None]) -> int:
    """Say of each step whether it is so, or would be done; return how many would be done."""
    wanted = 0
    for step in steps:
        done = step.is_done()
        wanted += not done
        say(f"  {'is so   ' if done else 'would do'}  {step.what}")
    return wanted


def carry_out(steps: Sequence[Step], say: Callable[[str], None]) -> Report:
    """Do what isn't done, in order, and stop at the first step that can't be done."""
    report = Report()
    for step in steps:
        try:
            if step.is_done():
                say(f"  is so     {step.what}")
                continue
            step.do()
            if not step.is_done():
                raise Failure("It was done, and still isn't so.")
        except (Failure, OSError) as error:
            raise Failure(_failed(step, error, report, steps)) from error
        report.changed.append(step.what)
        say(f"  done      {step.what}")
    return report


def _failed(step: Step, error: Exception, report: Report, steps: Sequence[Step]) -> str:
    """Say which step failed, why, what there is now, and what to run."""
    place = next(number for number, one in enumerate(steps, 1) if one is step)
    changed = plural(len(report.changed))
    return (
        f"Step {place} of {len(steps)} can't be done: {step.what}\n  {error}\n"
        f"  Before it {changed} done, as said above, and nothing after it.\n"
        "  Mend that, and run the same command again: it goes on from there."
    )


def plural(number: int) -> str:
    return f"{number} step was" if number == 1 else f"{number or 'no'} steps were"
