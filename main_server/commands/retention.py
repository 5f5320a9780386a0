"""The work of `gatepost retention …`, and what it prints; what a run does is in
retention_night.py."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

from sqlalchemy import Engine

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import plural
from gatepost.clock import iso, to_ms
from gatepost.config.settings import load
from gatepost.errors import NotFound
from main_server.commands.ca_opening import actor
from main_server.commands.failures import in_words
from main_server.commands.retention_night import is_behind, prove, run
from main_server.retention import run_repository as runs
from main_server.retention import service
from main_server.retention.service import Asker, Subject
from main_server.settings import DatabaseOnly
from main_server.store.database import open_ledger, transact
from main_server.tenants import hold_repository as holds
from main_server.tenants.hold_repository import Hold

__all__ = ["hold", "lift", "prove", "run", "set_days", "show", "status"]


def show(config: Path | None, client: str | None, domain: str | None, *, json: bool) -> None:
    output = Output(json=json)
    with _opened(config) as engine:
        if client or domain:
            _show_one(engine, output, _subject(client, domain))
        else:
            _show_all(engine, output)


def set_days(
    config: Path | None,
    client: str | None,
    days: int | None,
    lake: int | None,
    reports: int | None,
    *,
    json: bool,
) -> None:
    if (client is None) != (days is None) or (client, lake, reports) == (None, None, None):
        raise Failure("usage", "Give --client with --days, or --lake-days and --report-days.")
    output = Output(json=json)
    with _opened(config) as engine:
        if client is not None:
            subject = _subject(client, None)
            service.set_days(engine, Asker(actor()), subject, days or None, _now())
            _show_one(engine, output, subject)
        if lake is not None or reports is not None:
            before = transact(engine, holds.lake_days)
            lake = before[0] if lake is None else lake
            reports = before[1] if reports is None else reports
            service.set_lake_days(engine, Asker(actor()), lake, reports, _now())
            _show_lake(engine, output)


def hold(
    config: Path | None, client: str | None, domain: str | None, reason: str, *, json: bool
) -> None:
    subject = _subject(client, domain)
    with _opened(config) as engine:
        made = service.set_hold(engine, Asker(actor()), subject, reason, uuid4(), _now())
        words = f"{subject.name} is on hold: nothing of it goes until {_name(made)} is lifted."
        _tell(Output(json=json), made, words)


def lift(config: Path | None, hold_id: str, reason: str, *, json: bool) -> None:
    with _opened(config) as engine:
        try:
            wanted = UUID(hold_id)
        except ValueError:
            raise NotFound(service.NO_HOLD) from None
        lifted = service.lift_hold(engine, Asker(actor()), wanted, reason, _now())
        whose = lifted.client_id or lifted.domain
        _tell(Output(json=json), lifted, f"The hold {_name(lifted)} on {whose} is lifted.")


def status(config: Path | None, limit: int, *, json: bool) -> None:
    output = Output(json=json)
    with _opened(config) as engine:
        found = transact(engine, lambda connection: runs.latest_runs(connection, limit))
        behind = transact(engine, is_behind)
    for one in found:
        if json:
            output.result({n: getattr(one, n) for n in one.__slots__ if n != "policies"})
        else:
            counts = f"{plural(one.row_count, 'message')}, {plural(one.key_count, 'key')}"
            more = f"{counts}, {plural(one.partition_count, 'partition')}"
            why = f"  {one.reason}" if one.reason else ""
            output.say(f"{one.started_at:%Y-%m-%d %H:%M}  {one.state:11} {more}{why}")
    if behind:
        raise Failure("fault", behind)


def _show_one(engine: Engine, output: Output, subject: Subject) -> None:
    kept = service.show(engine, subject)
    if output.json:
        document = {
            "domain": subject.domain,
            "client_id": subject.client_id,
            "retention_days": kept.days,
            "own_days": kept.own_days,
            "holds": [_document(one) for one in kept.holds],
        }
        output.result(document)
        return
    usual = "" if kept.own_days is not None else ", as is usual there"
    output.say(f"{subject.name}: messages are kept for {kept.days} days{usual}.")
    for one in kept.holds:
        output.say(_line(one))


def _show_all(engine: Engine, output: Output) -> None:
    policies = transact(engine, holds.read_policies)
    found = transact(engine, holds.list_holds)
    if output.json:
        lake, reports = transact(engine, holds.lake_days)
        output.result(
            {
                "usual_days": policies.days_in(""),
                "domains": dict(policies.domains),
                "clients": dict(policies.clients),
                "lake_days": lake,
                "report_days": reports,
                "holds": [_document(one) for one in found],
            }
        )
        return
    output.say(f"Messages are kept for {policies.days_in('')} days, as is usual.")
    for whose, days in sorted({**policies.domains, **policies.clients}.items()):
        output.say(f"{whose}: {days} days")
    for one in found:
        output.say(_line(one))
    _show_lake(engine, output)


def _show_lake(engine: Engine, output: Output) -> None:
    lake, reports = transact(engine, holds.lake_days)
    if output.json:
        output.result({"lake_days": lake, "report_days": reports})
    else:
        output.say(f"The lake keeps days for {lake} days, reports for {reports}.")


def _tell(output: Output, one: Hold, words: str) -> None:
    if output.json:
        output.result(_document(one))
    else:
        output.say(words)


def _document(one: Hold) -> dict[str, object]:
    said = {name: getattr(one, name) for name in ("domain", "client_id", "reason", "set_by")}
    return {"hold": _name(one), **said, "set_at": iso(to_ms(one.set_at))}


def _line(one: Hold) -> str:
    whose = one.client_id or one.domain
    return f"on hold: {whose} since {one.set_at:%Y-%m-%d} ({_name(one)}): {one.reason}"


def _name(one: Hold) -> str:
    return str(UUID(bytes=one.hold_id))


def _subject(client: str | None, domain: str | None) -> Subject:
    if (client is None) == (domain is None):
        raise Failure("usage", "Give --client or --domain.")
    if client is None:
        assert domain is not None
        return Subject(domain)
    whose, colon, _ = client.partition(":")
    if not colon:
        raise Failure("usage", "A client is domain:name.")
    return Subject(whose, client)


@contextmanager
def _opened(config: Path | None) -> Iterator[Engine]:
    with (
        in_words("`gatepost retention show` shows what there is."),
        open_ledger(load(DatabaseOnly, config).database) as engine,
    ):
        yield engine


def _now() -> datetime:
    return datetime.now(UTC)
