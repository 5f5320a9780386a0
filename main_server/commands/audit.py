"""The work of `gatepost audit …`, and what it prints."""

import json as json_
from datetime import datetime
from itertools import islice
from pathlib import Path

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.clock import iso, to_ms
from gatepost.config.settings import load
from main_server.audit.asking import filters_of, times_of
from main_server.audit.chain import Head, Link, parse_head
from main_server.audit.search import Query, entries
from main_server.audit.verify import verify as walk
from main_server.audit.words import action_in_words, details_in_words, name_in_words
from main_server.commands.failures import in_words
from main_server.settings import DatabaseOnly
from main_server.store.database import create_ledger_engine
from main_server.tenants.names import check_names

_LOOK = "`gatepost audit show` shows what there is."


def show(config: Path | None, query: Query, limit: int, *, json: bool) -> None:
    output = Output(json=json)
    with in_words(_LOOK):
        engine = create_ledger_engine(load(DatabaseOnly, config).database)
        for link in islice(entries(engine, query), limit):
            _say(output, link)


def query_of(
    domain: str | None,
    actor: str | None,
    action: str | None,
    subject: str | None,
    days: tuple[datetime | None, datetime | None],
) -> Query:
    """Return the query of somebody at a shell; say in words why it can't be made."""
    with in_words(_LOOK):
        check_names(domain)
        return Query(domain, filters_of(actor, action, subject), times_of(*days))


def verify(config: Path | None, noted: str | None, *, json: bool) -> None:
    output = Output(json=json)
    with in_words(_LOOK):
        engine = create_ledger_engine(load(DatabaseOnly, config).database)
        with output.busy("walking the chain"):
            verdict = walk(engine, _parse(noted) if noted else None)
    if verdict.fault:
        words = f"The audit log is not whole: {verdict.fault}."
        raise Failure("refused", words, entries=verdict.entries, head=str(verdict.head))
    if json:
        output.result({"entries": verdict.entries, "head": str(verdict.head), "whole": True})
    else:
        output.say(f"The audit log is whole up to its head, {verdict.head}")


def _say(output: Output, link: Link) -> None:
    at = iso(to_ms(link.at))
    if output.json:
        said = {"seq": link.seq, "at": at, "actor": link.actor, "action": link.action}
        more = {"domain": link.domain, "subject": link.subject}
        output.result({**said, **more, "details": json_.loads(link.details)})
        return
    who, what = name_in_words(link.actor), action_in_words(link.action)
    output.say(f"{link.seq}  {at}  {who} {what}: {name_in_words(link.subject)}")
    for name, value in details_in_words(link.details):
        output.say(("    " + f"{name}: {value}", "dim"))


def _parse(noted: str) -> Head:
    try:
        return parse_head(noted)
    except ValueError:
        raise Failure("usage", "--head is a number, a colon and 64 hex digits.") from None
