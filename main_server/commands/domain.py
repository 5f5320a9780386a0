"""The work of `gatepost domain …`, and what it prints."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from sqlalchemy import Engine

from gatepost.cli.output import Output
from gatepost.cli.words import plural
from gatepost.config.settings import load
from gatepost.wire.domains import DomainSettings
from main_server.commands.ca_opening import actor
from main_server.commands.failures import in_words
from main_server.settings import DatabaseOnly, StoresOnly
from main_server.store.database import open_ledger
from main_server.tenants.domains import seeding, service
from main_server.tenants.domains.documents import domain_document
from main_server.tenants.domains.seeding import read_domains


@dataclass(frozen=True, slots=True)
class Given:
    """The values of the options; None where one was not given."""

    queue_prefix: str | None
    max_undelivered: int | None
    retention_days: int | None
    time_zone: str | None = None

    def over(self, settings: DomainSettings) -> DomainSettings:
        """Return the settings with what was given instead; an empty prefix or zone and no days take
        back what was set."""
        prefix, most, days = self.queue_prefix, self.max_undelivered, self.retention_days
        zone = self.time_zone
        return DomainSettings(
            queue_prefix=settings.queue_prefix if prefix is None else prefix or None,
            max_undelivered=settings.max_undelivered if most is None else most,
            retention_days=settings.retention_days if days is None else days or None,
            time_zone=settings.time_zone if zone is None else zone or None,
        )


def add(config: Path | None, name: str, given: Given, *, json: bool) -> None:
    with _opened(config) as engine:
        service.create(engine, name, given.over(DomainSettings()), _now(), actor())
        _tell(engine, name, "is there", json=json)


def change(config: Path | None, name: str, given: Given, *, json: bool) -> None:
    with _opened(config) as engine:
        shared = load(StoresOnly, config).redis.queue_name
        before = service.settings_of(service.show(engine, name).domain)
        service.change(engine, name, given.over(before), _now(), actor(), shared=shared)
        _tell(engine, name, "is changed", json=json)


def disable(config: Path | None, name: str, reason: str, *, json: bool) -> None:
    with _opened(config) as engine:
        service.disable(engine, name, reason, _now(), actor())
        _tell(engine, name, "is disabled", json=json)


def enable(config: Path | None, name: str, *, json: bool) -> None:
    with _opened(config) as engine:
        service.enable(engine, name, _now(), actor())
        _tell(engine, name, "is enabled", json=json)


def seed(config: Path | None, file: Path, *, json: bool) -> None:
    output = Output(json=json)
    with _opened(config) as engine:
        wanted = read_domains(file)
        added = seeding.seed(engine, wanted, _now(), actor())
        ledger = {one.domain.domain: one.domain for one in service.list_all(engine)}
        differ = seeding.differences(wanted, ledger)
    if json:
        output.result({"added": added, "differences": differ})
        return
    for name in added:
        output.say(f"The domain {name} is there. Proxies hear of it within a second or two.")
    for words in differ:
        output.say(words)
    if not added:
        output.say("There was nothing to add.")


def list_all(config: Path | None, *, json: bool) -> None:
    output = Output(json=json)
    with _opened(config) as engine:
        for one in service.list_all(engine):
            if json:
                output.result(msgspec.to_builtins(domain_document(one)))
            else:
                said = domain_document(one)
                state = "disabled" if said.disabled_at else "active"
                queue = said.queue or "the shared queue"
                counts = f"{plural(said.clients, 'client')}, {said.people} people"
                kept = f"kept {said.retention_days} days"
                most = f"at most {said.max_undelivered} undelivered"
                zone = said.time_zone or "UTC"
                output.say(f"{said.domain}  {state}  {queue}  {most}, {kept}  {counts}  {zone}")


def _tell(engine: Engine, name: str, words: str, *, json: bool) -> None:
    output = Output(json=json)
    if json:
        output.result(msgspec.to_builtins(domain_document(service.show(engine, name))))
    else:
        output.say(f"The domain {name} {words}. Proxies hear of it within a second or two.")


@contextmanager
def _opened(config: Path | None) -> Iterator[Engine]:
    with (
        in_words("`gatepost domain list` shows which there are."),
        open_ledger(load(DatabaseOnly, config).database) as engine,
    ):
        yield engine


def _now() -> datetime:
    return datetime.now(UTC)
