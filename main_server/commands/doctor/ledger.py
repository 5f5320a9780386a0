"""The looks at the ledger: whether it answers, how it is set up, and whether its tables are as they
should."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from gatepost.cli.doctor.look import CantTell, Finding, Look, fine, warning, wrong
from gatepost.cli.doctor.looks.redis import judge_time
from gatepost.cli.words import plural
from gatepost.clock import from_ms, to_ms
from gatepost.ids import id_ms
from gatepost.install.shipped import shipped_file
from main_server.commands.doctor import repository
from main_server.commands.doctor.asking import Here, asking, here, of_ledger
from main_server.health.watching.repository import Connections, read_connections
from main_server.keys.repository import read_time
from main_server.messages.partitions import DAYS_AHEAD, TABLES, days_ahead, gaps
from main_server.store import schema as migrating
from main_server.store.checks import ledger_faults, read_variables

OLDEST = {"MariaDB": (10, 11), "MySQL": (8, 0)}
FEW_DAYS = 3
BUSY = 0.8
_SET = {
    "innodb_flush_log_at_trx_commit": "SET GLOBAL innodb_flush_log_at_trx_commit = 1",
    "general_log": "SET GLOBAL general_log = OFF",
    "slow_query_log": "SET GLOBAL slow_query_log = OFF",
    "local_infile": "SET GLOBAL local_infile = OFF",
}
"""The variables that can be put right while the server runs, and the statement for each; they must
be right in its files as well."""


def see_ledger(one: Here) -> Iterator[Finding]:
    address = one.settings.database.address()
    try:
        with asking(one) as connection:
            yield fine(f"it answers, with {repository.read_version(connection)}")
    except (CantTell, SQLAlchemyError) as error:
        cause = error if isinstance(error, SQLAlchemyError) else error.__cause__
        reason = getattr(cause, "orig", None)
        code = reason.args[0] if reason is not None and reason.args else type(cause).__name__
        where = f"{address.host}:{address.port}"
        yield wrong(f"it does not answer at {where} as {address.username} (error {code})")


def see_version(_one: Here, connection: Connection) -> Iterator[Finding]:
    yield judge_version(repository.read_version(connection))


def judge_version(version: str) -> Finding:
    engine = "MariaDB" if "mariadb" in version.lower() else "MySQL"
    numbers = tuple(int(n) for n in version.split("-")[0].split(".")[:2] if n.isdigit())
    wanted = OLDEST[engine]
    words = f"{engine} {version.split('-')[0]}"
    if numbers < wanted:
        return wrong(f"{words}: it must be {'.'.join(map(str, wanted))} or later")
    return fine(words)


def see_settings(_one: Here, connection: Connection) -> Iterator[Finding]:
    put = f"cp {shipped_file('my.cnf')} /etc/mysql/mariadb.conf.d/90-gatepost.cnf"
    faults = ledger_faults(read_variables(connection))
    for fault in faults:
        statement = _SET.get(fault.split(" ")[0])
        yield wrong(fault, f'mariadb -e "{statement}"' if statement else put)
    if repository.read_doublewrite(connection) in ("0", "OFF", "DETECT_ONLY"):
        yield warning("innodb_doublewrite is off: a page torn by a power cut can't be mended", put)
    elif not faults:
        yield fine("flush at commit, READ COMMITTED, strict, no log that keeps destroyed keys")


def see_connections(one: Here, connection: Connection) -> Iterator[Finding]:
    settings = one.settings
    ours = settings.server.workers * (settings.database.pool_size + 1)
    yield judge_connections(read_connections(connection), ours)


def judge_connections(used: Connections, ours: int) -> Finding:
    """Judge the connections; `ours` is how many this machine's main server may open."""
    words = f"{used.open} of {used.limit} are open"
    if ours > used.limit:
        return wrong(f"max_connections is {used.limit}, and this main server alone may open {ours}")
    return warning(words) if used.open >= BUSY * used.limit else fine(words)


def see_time(_one: Here, connection: Connection) -> Iterator[Finding]:
    before = datetime.now(UTC)
    there = read_time(connection)
    after = datetime.now(UTC)
    yield judge_time("the ledger", to_ms(before + (after - before) / 2) - to_ms(there))


def see_schema(one: Here, connection: Connection) -> Iterator[Finding]:
    problem = migrating.problem(connection.engine)
    migration = one.beside("migration")
    if problem is None:
        yield fine(f"the ledger is {migrating.current(connection)}, which this release works with")
    else:
        words = problem.partition(": run")[0]
        yield wrong(words, f"gatepost db upgrade --config {migration}")


def see_partitions(one: Here, connection: Connection) -> Iterator[Finding]:
    today = from_ms(to_ms(datetime.now(UTC))).date()
    restart = one.site.start("main_server", again=True)
    for table in TABLES:
        if missing := gaps(connection, table, today):
            yield wrong(
                f"{table}: there is no partition of {', '.join(map(str, missing))}", restart
            )
        yield judge_partitions(table, days_ahead(connection, table, today), restart)


def judge_partitions(table: str, ahead: int, restart: str) -> Finding:
    """Judge how far ahead partitions are. The main server makes them every hour: if some are
    missing, it has not done so for days."""
    words = f"{table}: there are partitions for {plural(max(ahead, 0), 'day')} ahead"
    if ahead < DAYS_AHEAD - 1:
        return (wrong if ahead < FEW_DAYS else warning)(words, restart)
    return fine(words)


def see_last_partition(_one: Here, connection: Connection) -> Iterator[Finding]:
    for table in TABLES:
        found = repository.find_beyond(connection, table)
        if found is None:
            yield fine(f"{table}: nothing lies beyond the last day")
        else:
            day = from_ms(id_ms(UUID(bytes=found))).date()
            yield wrong(f"{table}: what lies beyond the last day begins on {day}")


LOOKS = (
    Look(
        name="ledger",
        at="whether the ledger's database answers the main server's user",
        why="without it nobody sees a message, and what is accepted is in Redis alone",
        mend="systemctl status mariadb",
        see=here(see_ledger),
    ),
    Look(
        name="ledger-version",
        at="which database it is",
        why="an older one can't do what the ledger needs",
        mend="apt-get install mariadb-server",
        see=of_ledger(see_version),
    ),
    Look(
        name="ledger-settings",
        at="flush at commit, isolation, strictness, double write, and logs of statements",
        why="a commit that isn't on disk is lost in a crash; a log keeps keys that were destroyed",
        mend="gatepost install",
        see=of_ledger(see_settings),
    ),
    Look(
        name="ledger-connections",
        at="how many connections are open, of how many there may be",
        why="who finds none open waits, and then gives up",
        mend='mariadb -e "SHOW PROCESSLIST"',
        see=of_ledger(see_connections),
    ),
    Look(
        name="ledger-clock",
        at="how far this machine's clock and the ledger's are apart",
        why="days, keys and partitions go by time",
        mend="chronyc tracking",
        see=of_ledger(see_time),
    ),
    Look(
        name="ledger-schema",
        at="whether the tables are of this release",
        why="a main server waits until they are",
        mend="gatepost db upgrade",
        see=of_ledger(see_schema),
    ),
    Look(
        name="partitions",
        at="for how many days ahead there are partitions, and whether one is missing between them",
        why="without them rows go into the last partition, and to divide that holds everybody up",
        mend="systemctl restart gatepost-main-server",
        see=of_ledger(see_partitions),
    ),
    Look(
        name="last-partition",
        at="whether anything is in the partition behind the last day",
        why="a clock has leapt ahead: what lies there has an id of a day that hasn't come",
        mend="chronyc tracking",
        see=of_ledger(see_last_partition),
    ),
)
