"""The looks at queue against ledger: what waits in one is known to the other, and something takes
it from there.

The reconciler mends differences within seconds. What it has not mended, nobody does.
"""

from uuid import UUID

from redis.asyncio import Redis
from sqlalchemy import Connection

from gatepost.cli.doctor.look import Finding, Findings, Look, fine, warning, wrong
from gatepost.cli.doctor.looks.redis import ask
from gatepost.cli.words import duration, plural
from gatepost.clock import to_ms
from gatepost.ids import id_ms
from gatepost.queue import Queues
from main_server.commands.doctor import repository as ours
from main_server.commands.doctor.asking import Here, asking, here, of_ledger
from main_server.keys.repository import read_time
from main_server.messages.in_state import START
from main_server.messages.reconcile import repository
from main_server.messages.reconcile.repository import Waiting
from main_server.messages.reconcile.to_queue import BATCH, OVERDUE_MS
from main_server.tenants.domains import repository as domains
from main_server.tenants.pauses.repository import EVERYWHERE, list_pauses

PIECES = 10
"""The number of pieces in which waiting rows are held against the queue."""
EXPOSED_MS = 10_000
BEHIND_MS = 60_000


def see_lost(one: Here) -> list[Finding]:
    """Look for waiting rows that the queue doesn't know. They are read in the order in which the
    reconciler reads, or what is settled meanwhile would seem lost."""
    with asking(one) as connection:
        waiting = _overdue(connection)
        by_queue: dict[str, list[bytes]] = {}
        for row in waiting:
            by_queue.setdefault(row.queue, []).append(row.message_id)
        missing = ask(one.settings.redis, lambda redis: _missing(redis, by_queue))
        connection.rollback()  # what is read from now on is as it is by now
        lost = sum(len(repository.read_queued(connection, ids)) for ids in missing)
        queued = ours.count_queued(connection)
    words = f"of {plural(queued, 'message')} that wait in the ledger"
    if lost:
        restart = one.site.start("main_server", again=True)
        return [wrong(f"{words} the queue does not know {lost}", restart)]
    return [fine(f"{words} the queue knows all that were looked for ({len(waiting)})")]


def see_exposed(one: Here) -> list[Finding]:
    """Look for messages that only Redis has had for longer than the reconciler takes."""
    with asking(one) as connection:
        names = domains.list_queues(connection)
        now = to_ms(read_time(connection))

    async def read(redis: Redis) -> list[bytes]:
        queues = Queues(redis, one.settings.redis.queue_name)
        return [e.id for name in names for e in await queues.named(name).exposed(BATCH)]

    exposed = ask(one.settings.redis, read)
    old = [id_ for id_ in exposed if now - id_ms(UUID(bytes=id_)) > EXPOSED_MS]
    if old:
        words = f"{plural(len(old), 'message')} in Redis alone for longer than"
        restart = one.site.start("main_server", again=True)
        return [wrong(f"{words} {duration(EXPOSED_MS / 1000)}", restart)]
    return [fine("the ledger has all that the queue has")]


def see_waiting(one: Here) -> list[Finding]:
    with asking(one) as connection:
        names = domains.list_queues(connection)

    look = f"gatepost queue list --config {one.file}"

    async def read(redis: Redis) -> list[Finding]:
        queues = Queues(redis, one.settings.redis.queue_name)
        found = []
        for name in names:
            queue = queues.named(name)
            stats = await queue.stats()
            found.append(judge_waiting(queue.name, stats.waiting, stats.oldest_ms, look))
        return found

    return ask(one.settings.redis, read)


def judge_waiting(queue: str, waiting: int, oldest_ms: int, look: str) -> Finding:
    words = f"{queue}: {plural(waiting, 'message')}"
    if oldest_ms > BEHIND_MS:
        words = f"{words}; one has waited for a worker for {duration(oldest_ms / 1000)}"
        return warning(words, look)
    return fine(words)


def see_pauses(one: Here, connection: Connection) -> Findings:
    """Look for what was paused by hand; who did it, and why, is said by the command for it."""
    pauses = list_pauses(connection)
    for pause in pauses:
        whose = "--all" if pause.name == EVERYWHERE else pause.name
        words = f"{pause.what} {whose} is paused since {pause.since:%Y-%m-%d %H:%M} UTC"
        yield warning(words, f"gatepost {pause.what} resume {whose} --config {one.file}")
    if not pauses:
        yield fine("neither a queue nor intake is paused")


def _overdue(connection: Connection) -> list[Waiting]:
    place, found = START, list[Waiting]()
    due_before = to_ms(read_time(connection)) - OVERDUE_MS
    for _ in range(PIECES):
        rows = repository.list_waiting(connection, place, BATCH)
        found += [row for row in rows if to_ms(row.due_at) < due_before]
        if len(rows) < BATCH:
            break
        place = rows[-1].place
    return found


async def _missing(redis: Redis, by_queue: dict[str, list[bytes]]) -> list[list[bytes]]:
    queues = Queues(redis, "")
    found = [await queues.named(n).missing(ids) for n, ids in by_queue.items()]
    return [ids for ids in found if ids]


LOOKS = (
    Look(
        name="queue-lost",
        at="messages that wait in the ledger, and that the queue doesn't know",
        why="nobody delivers them; a running main server enqueues them again within seconds",
        mend="systemctl restart gatepost-main-server",
        see=here(see_lost),
    ),
    Look(
        name="queue-exposed",
        at="messages that Redis alone has",
        why="with Redis's data they would be lost; a running main server registers them in seconds",
        mend="systemctl restart gatepost-main-server",
        see=here(see_exposed),
    ),
    Look(
        name="queue",
        at="for how long the oldest message of each queue has waited for a worker",
        why="workers are away, too few, or held up",
        mend="gatepost queue list",
        see=here(see_waiting),
    ),
    Look(
        name="pauses",
        at="queues that are paused, and domains of which nothing is taken in",
        why="what was paused by hand is resumed by hand, and easily forgotten",
        mend="gatepost intake list",
        see=of_ledger(see_pauses),
    ),
)
