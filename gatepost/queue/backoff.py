"""How long to wait after a failure: doubling, capped, with jitter.

So nothing runs hot, and what failed together doesn't come back together.
"""

import random


class Backoff:
    """The waits of one loop. A success resets it."""

    def __init__(self, first: float = 0.05, longest: float = 5.0) -> None:
        self._first = first
        self._longest = longest
        self._next = first

    def next(self) -> float:
        """Return how many seconds to wait now: between half of the step and all of it."""
        step, self._next = self._next, min(self._next * 2, self._longest)
        return step * random.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Start over: the last try went well."""
        self._next = self._first
