"""Runs the looks at once, each in a thread of its own, for so long as it may take.

A look that fails, or hangs, is a finding: what it looked at can't be told. A thread that hangs is
left behind, and ends with the process.
"""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gatepost.cli.doctor.look import CantTell, Finding, Look, State, unknown
from gatepost.cli.doctor.site import Site
from gatepost.cli.doctor.typed import as_typed

SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A look and one of its findings."""

    look: Look
    finding: Finding

    @property
    def command(self) -> str | None:
        """The command that mends the finding; None if it is in order."""
        return None if self.finding.state is State.OK else self.finding.command


def run_all(looks: Sequence[Look], site: Site, seconds: float = SECONDS) -> list[Seen]:
    """Return what the looks found, in their order, whatever time each took."""
    answers: queue.SimpleQueue[tuple[str, list[Finding]]] = queue.SimpleQueue()

    def work(look: Look) -> None:
        answers.put((look.name, _look(look, site)))

    for look in looks:
        threading.Thread(target=work, args=(look,), name=look.name, daemon=True).start()
    found = dict(_collect(answers, len(looks), seconds))
    late = [unknown(f"it took longer than {seconds:g} s to look")]
    return [_seen(look, one, site) for look in looks for one in found.get(look.name, late)]


def _seen(look: Look, finding: Finding, site: Site) -> Seen:
    """Return the finding with its command as it is typed here."""
    if finding.state is State.OK:
        return Seen(look, finding)
    command = as_typed(finding.command or look.mend, site)
    return Seen(look, replace(finding, command=command))


def _collect(
    answers: "queue.SimpleQueue[tuple[str, list[Finding]]]", count: int, seconds: float
) -> Iterator[tuple[str, list[Finding]]]:
    deadline = time.monotonic() + seconds
    for _ in range(count):
        try:
            yield answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return


def _look(look: Look, site: Site) -> list[Finding]:
    """Run a look and return its findings. A fault of ours is named by its kind alone: its words
    might quote what it met."""
    try:
        return list(look.see(site))
    except CantTell as error:
        return [unknown(error.why, error.command)]
    except PermissionError as error:
        return [unknown(f"{error.filename} may not be read", "sudo gatepost doctor")]
    except Exception as error:
        return [unknown(f"this look has failed: {type(error).__name__}")]
