"""The work of `gatepost queue redrive|redrives`, and what they print. The engine is the portal's
(main_server.messages.failed.service): the count comes first, then the main servers do it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import ago, duration, plural
from gatepost.clock import Clock
from gatepost.ids import MessageIds
from main_server.commands.ca_opening import actor, confirm
from main_server.commands.intake import now_of, opened
from main_server.messages.failed import service
from main_server.messages.failed.repository import MOST_COUNTED, Redrive, Selection, list_redrives
from main_server.messages.failed.service import Order
from main_server.messages.queues.naming import checked_client
from main_server.messages.reading.asking import reason_in, span_of
from main_server.store.database import transact
from main_server.tenants.names import check_names
from main_server.tenants.pauses.service import Order as Asked
from main_server.tenants.pauses.service import said

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Given:
    """The values of the options."""

    reason: str
    domain: str | None
    client: str | None
    failed_for: str | None
    begin: datetime | None
    end: datetime | None
    rate: int


def redrive(config: Path | None, given: Given, *, dry_run: bool, yes: bool, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, _):
        now = now_of(engine)
        words = said(Asked(actor(), given.reason, now))
        order = Order(_selection(given, now), given.rate, words)
        expected = service.count(engine, order.selection)
        if dry_run or not expected:
            _tell_count(output, expected, given)
            return
        confirm(f"Redrive {_count(expected)}, {given.rate} a second?", yes=yes)
        started = service.start(engine, actor(), order, MessageIds(Clock()).new(), now)
    if json:
        output.result(_document(started))
        return
    output.say(f"{_id(started)} redrives {_count(expected)}: {_takes(expected, given.rate)}.")
    output.say(("`gatepost queue redrives` shows how far it is, --stop ID stops it.", "dim"))


def redrives(config: Path | None, stop: str | None, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, _):
        now = now_of(engine)
        if stop is not None:
            service.stop(engine, actor(), None, _parsed(stop), now)
        found = transact(engine, lambda c: list_redrives(c, None, SHOWN))
    for one in found:
        if json:
            output.result(_document(one))
        else:
            output.say(_line(one, now))
    if not found and not json:
        output.say("Nothing was redriven yet.")


def _selection(given: Given, now: datetime) -> Selection:
    check_names(given.domain)
    client = checked_client(given.client)
    span = span_of(given.begin, given.end, now)
    return Selection(span.first, span.end, given.domain, client, reason_in(given.failed_for))


def _tell_count(output: Output, expected: int, given: Given) -> None:
    if output.json:
        output.result({"dry_run": True, "expected": expected, "rate_per_second": given.rate})
    elif expected:
        output.say(f"{_count(expected)} would be redriven: {_takes(expected, given.rate)}.")
    else:
        output.say("There is no failed message that could be redriven by this.")


def _count(expected: int) -> str:
    more = " or more" if expected >= MOST_COUNTED else ""
    return f"{plural(expected, 'failed message')}{more}"


def _takes(expected: int, rate: int) -> str:
    return f"it takes about {duration(max(1, expected / rate))}"


def _parsed(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        hint = "`gatepost queue redrives` shows the latest."
        raise Failure("not-found", f"There is no redrive {text}.", hint) from None


def _id(redrive: Redrive) -> str:
    return str(UUID(bytes=redrive.redrive_id))


def _line(one: Redrive, now: datetime) -> str:
    whose = one.client_id or one.domain or "all domains"
    reason = f", failed for {one.reason}" if one.reason else ""
    begun = ago(one.created_at.replace(tzinfo=UTC), now)
    return (
        f"{_id(one)}  {one.state:<8}  {one.redriven} of {one.expected}, {one.rate_per_second}/s"
        f"  {whose}{reason}  begun {begun} by {one.actor}"
    )


def _document(one: Redrive) -> dict[str, Any]:
    shown = ("domain", "client_id", "reason", "rate_per_second", "expected", "redriven", "state")
    times = {"actor": one.actor, "created_at": one.created_at, "ended_at": one.ended_at}
    return {"redrive_id": _id(one), **{name: getattr(one, name) for name in shown}, **times}
