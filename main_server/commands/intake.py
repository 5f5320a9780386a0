"""The work of `gatepost queue pause|resume` and `gatepost intake …`, and what they print."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import ago
from gatepost.config.settings import load
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN
from main_server.audit.words import name_in_words
from main_server.commands.ca_opening import actor, confirm
from main_server.commands.failures import in_words
from main_server.keys.repository import read_time
from main_server.messages.queues.naming import Known, list_known, meant, to_pause
from main_server.settings import StoresOnly
from main_server.store.database import open_ledger, transact
from main_server.tenants.domains import service as domains
from main_server.tenants.pauses import service
from main_server.tenants.pauses.repository import EVERYWHERE, Pause, What
from main_server.tenants.pauses.service import Order


def pause_queue(config: Path | None, name: str, reason: str, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, settings):
        default = settings.redis.queue_name
        made = service.pause_those(
            engine, What.QUEUE, lambda c: _whose(to_pause(c, default, name)), _order(reason)
        )
    for one, is_new in made:
        _tell(output, one, "Workers leave it alone within a second or two.", is_new=is_new)


def resume_queue(config: Path | None, name: str, reason: str, *, json: bool) -> None:
    with opened(config) as (engine, settings):
        queues = meant(list_known(engine, settings.redis.queue_name), name)
        _resume(engine, What.QUEUE, _whose(queues), reason, Output(json=json))


def pause_intake(config: Path | None, name: str, reason: str, *, yes: bool, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, _):
        names = _domain(engine, name)
        service.said(_order(reason))
        if name == EVERYWHERE:
            confirm("Take nothing in any more, of any domain?", yes=yes)
        made = service.pause(engine, What.INTAKE, names, _order(reason))
    for one, is_new in made:
        more = "Proxies that reach a main server answer 503 within a second."
        _tell(output, one, more, is_new=is_new)


def resume_intake(config: Path | None, name: str, reason: str, *, json: bool) -> None:
    with opened(config) as (engine, _):
        _resume(engine, What.INTAKE, _domain(engine, name), reason, Output(json=json))


def list_intake(config: Path | None, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, _):
        found = service.list_all(engine, What.INTAKE)
    for one in found:
        _tell(output, one)
    if not found and not json:
        output.say("Messages of all domains are taken in.")


def whose(domain: str | None, *, everywhere: bool) -> str:
    if (domain is None) != everywhere:
        raise Failure("usage", "Name a domain, or say --all.")
    if domain == EVERYWHERE:
        raise Failure("usage", f"{EVERYWHERE} is no domain: say --all if you mean all of them.")
    return domain or EVERYWHERE


def paused_in_words(pause: Pause, now: datetime) -> str:
    """Say a pause in words for operators; others are told less."""
    since = pause.since.replace(tzinfo=UTC)
    return (
        f"paused since {since:%Y-%m-%d %H:%M:%S} UTC ({ago(since, now)})"
        f" by {name_in_words(pause.actor)}: {pause.reason}"
    )


def now_of(engine: Engine) -> datetime:
    """Return the ledger's time, whatever the shell's clock says: what came before it is meant, and
    what is due at it is due."""
    return transact(engine, read_time).replace(tzinfo=UTC)


@contextmanager
def opened(config: Path | None) -> Iterator[tuple[Engine, StoresOnly]]:
    with in_words("`gatepost queue list` shows the queues, `gatepost domain list` the domains."):
        settings = load(StoresOnly, config)
        with open_ledger(settings.database) as engine:
            yield engine, settings


def _resume(
    engine: Engine, what: What, names: Mapping[str, str | None], reason: str, output: Output
) -> None:
    ended = service.resume(engine, what, names, _order(reason))
    for name in names:
        if output.json:
            output.result({"what": what, "name": name, "resumed": name in ended})
        else:
            words = "is resumed" if name in ended else "was not paused"
            output.say(f"{_subject(what, name)} {words}.")


def _tell(output: Output, pause: Pause, more: str = "", *, is_new: bool = True) -> None:
    if output.json:
        said = {name: getattr(pause, name) for name in Pause.__slots__}
        output.result(said | {"new": is_new} if more else said)
        return
    words = paused_in_words(pause, datetime.now(UTC))
    output.say(f"{_subject(pause.what, pause.name)} {'is' if is_new else 'stays'} {words}")
    if more and is_new:
        output.say((more, "dim"))


def _subject(what: str, name: str) -> str:
    if what == What.QUEUE:
        return f"The queue {name}"
    return "Intake of all domains" if name == EVERYWHERE else f"Intake of {name}"


def _domain(engine: Engine, name: str) -> dict[str, str | None]:
    """Return the domain, or all of them, for a pause; raise NotFound if there is no such domain."""
    if name == EVERYWHERE:
        return {EVERYWHERE: None}
    if name != INFRASTRUCTURE_DOMAIN:
        domains.show(engine, name)
    return {name: name}


def _whose(queues: Sequence[Known]) -> dict[str, str | None]:
    return {one.name: one.domain for one in queues}


def _order(reason: str) -> Order:
    return Order(actor(), reason, datetime.now(UTC))
