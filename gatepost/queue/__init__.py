"""The queue engine: everything that waits in Gatepost waits here.

    from gatepost.queue import Entry, Queue, Reason, connect

    redis = connect(url)                                 # or any redis.asyncio client or cluster
    queue = Queue(redis, "message_queue", partitions=1)  # every process must say the same number

Joining (the only operation that Redis refuses when it is out of memory):

    await queue.enqueue([Entry(id=…16 bytes…, payload=b"…", priority=5, due_at=None,
                               expires_at=ms, ordering_key=None, attempts=0, generation=0,
                               exposed=False), …])
        -> list[Enqueued]   NEW, ALREADY_THERE, SUPERSEDED (a higher generation took its place)

Being delivered. A Delivery holds its message until it is settled, or its lease has run out *and*
reclaim has taken it back; from then on it is refused. Each settlement says which were applied:

    deliveries = await queue.reserve(limit, lease_seconds)             # an attempt is counted
    await queue.acknowledge(deliveries)                      -> list[bool]
    await queue.retry_later([(delivery, delay_seconds), …])  -> list[bool]
    await queue.give_back(deliveries)                        -> list[bool]  # to the head, uncounted
    await queue.dead_letter([(delivery, Reason.REFUSED), …]) -> list[bool]
    await queue.extend(deliveries, lease_seconds)            -> list[bool]
    await queue.wait(timeout)                                -> bool  # ≤ 5 s; reserve either way

Kept going every 250 ms by every pool, without a leader (bounded work; call again at once if the
answer is the limit):

    await queue.release_due(limit=500)        -> int    # what is due joins the tail
    await queue.reclaim(limit=500)            -> int    # what lost its lease goes to the head
    await queue.expire(limit, lease_seconds)  -> list[Delivery]

expire *leases* what has outlived its time, uncounted: exit is ledger first. Tell the ledger, then
dead_letter it with Reason.EXPIRED. If its holder dies, it comes back like any other.

Asked, and administered:

    await queue.peek(ids)            -> list[Peeked | None]  # place, attempts, times; no payload
    await queue.payloads(ids)        -> list[bytes | None]   # wherever they wait
    await queue.missing(ids)         -> list[bytes]   # not ready, leased, delayed nor in line
    await queue.stats()              -> Stats
    await queue.remove(ids)          -> list[bool]    # wherever it is; a holder settles too late
    await queue.purge()              -> int
    await queue.dead_letters(limit)  -> list[DeadLetter]  # latest first; 100,000 are kept
    await queue.forget_dead()        -> int
    await queue.foremost(limit)      -> list[Peeked]  # some that wait, the next ones first
    await queue.expose(ids)          -> list[bool]    # only Redis has them (or Entry.exposed)
    await queue.exposed(limit)       -> list[Exposed] # with payloads, in no order
    await queue.registered(ids)      -> None          # the ledger has them now
    await queue.epochs()             -> list[bytes]   # one a partition; changed = it was wiped

Queues(redis, default) gives out queues by name; Turns(redis) serves several in turn and waits for
all of them at once. Times in entries and answers are Unix milliseconds; "now" is Redis's. Errors
are QueueError's subclasses; wait with gatepost.loops.backoff before trying again.
"""

from gatepost.queue.connection import connect
from gatepost.queue.errors import (
    QueueDamaged,
    QueueError,
    QueueFull,
    QueueLoading,
    QueueReadOnly,
    QueueSlow,
    QueueUnavailable,
    QueueUnreachable,
    typed_errors,
)
from gatepost.queue.messages import (
    DeadLetter,
    Delivery,
    Enqueued,
    Entry,
    Exposed,
    Peeked,
    Place,
    Reason,
    Stats,
)
from gatepost.queue.named import Queues, Turns
from gatepost.queue.queues import Queue
from gatepost.queue.signals import Doorbell

__all__ = [
    "DeadLetter",
    "Delivery",
    "Doorbell",
    "Enqueued",
    "Entry",
    "Exposed",
    "Peeked",
    "Place",
    "Queue",
    "QueueDamaged",
    "QueueError",
    "QueueFull",
    "QueueLoading",
    "QueueReadOnly",
    "QueueSlow",
    "QueueUnavailable",
    "QueueUnreachable",
    "Queues",
    "Reason",
    "Stats",
    "Turns",
    "connect",
    "typed_errors",
]
