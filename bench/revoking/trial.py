"""One trial: a certificate in use is revoked, and all that still gets through is noted."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from bench.revoking.bed import Bed, Victim
from bench.revoking.callers import GAP_SECONDS, Live, Newcomers, Seen

BEFORE_REQUESTS, BEFORE_SECONDS, AFTER_SECONDS = 3, 30.0, 1.6
NEW_THREADS, RESUMING_THREADS = 2, 1


@dataclass(frozen=True)
class Outcome:
    """Milliseconds from the answer of the revoking call to when the last request began that was
    accepted; below nothing means that none was accepted that began after it."""

    new: float
    live: float
    resumed: float
    cut: float
    """To the end of the last of its live connections."""
    processes: int
    """How many of the proxy's processes have cut some of them."""
    sessions_resumed: int
    unsure: int
    """Requests answered 503, of whomever, because a process could not tell."""


async def try_once(
    bed: Bed, victim: Victim, connections: int, afterwards: Callable[[], None]
) -> Outcome:
    """`afterwards` is called as soon as the revoking call has answered."""
    loop, since = asyncio.get_running_loop(), bed.log_size()
    live = Live(bed.port, victim.context, GAP_SECONDS)
    new = Newcomers(bed.port, victim.context, NEW_THREADS, resume=False)
    again = Newcomers(bed.port, victim.context, RESUMING_THREADS, resume=True)
    await live.open(connections)
    for one in (new, again):
        one.start()
    try:
        await _all_accepted(live.seen, new.seen, again.seen)
        answered = await loop.run_in_executor(None, bed.revoke, victim)
        await loop.run_in_executor(None, afterwards)
        await asyncio.sleep(AFTER_SECONDS)
    finally:
        for one in (new, again):
            await loop.run_in_executor(None, one.stop)
        await live.close()
    if len(live.seen.ended) != connections:
        raise AssertionError(f"{connections - len(live.seen.ended)} connections were not cut")
    return Outcome(
        new=_after(new.seen, answered),
        live=_after(live.seen, answered),
        resumed=_after(again.seen, answered),
        cut=(max(live.seen.ended) - answered) * 1000,
        processes=len(bed.cut_by(since)),
        sessions_resumed=again.resumed,
        unsure=new.seen.unsure + live.seen.unsure + again.seen.unsure,
    )


async def _all_accepted(*kinds: Seen) -> None:
    """Until callers of each kind have been in: a trial has to have something to end."""
    async with asyncio.timeout(BEFORE_SECONDS):
        while not all(seen.accepted >= BEFORE_REQUESTS for seen in kinds):  # noqa: ASYNC110 - threads
            await asyncio.sleep(0.01)


def _after(seen: Seen, answered: float) -> float:
    if not seen.accepted or not (seen.refused or seen.ended):
        raise AssertionError(f"a trial that shows nothing: {seen}")
    return (seen.last_accepted - answered) * 1000
