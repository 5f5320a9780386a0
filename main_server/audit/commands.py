"""What `gatepost audit …` does, and says."""

import json as json_
from functools import partial
from pathlib import Path

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.clock import iso, to_ms
from gatepost.settings import load
from main_server.audit.chain import Head, parse_head
from main_server.audit.repository import list_latest
from main_server.audit.verify import verify as walk
from main_server.commanding import in_words
from main_server.database import create_ledger_engine, transact
from main_server.settings import DatabaseOnly

_LOOK = "`gatepost audit show` shows what there is."


def show(config: Path | None, domain: str | None, limit: int, *, json: bool) -> None:
    output = Output(json=json)
    with in_words(_LOOK):
        engine = create_ledger_engine(load(DatabaseOnly, config).database)
        links = transact(engine, partial(list_latest, limit=limit, domain=domain))
    for link in links:
        at = iso(to_ms(link.at))
        if json:
            said = {"seq": link.seq, "at": at, "actor": link.actor, "action": link.action}
            more = {"domain": link.domain, "subject": link.subject}
            output.result({**said, **more, "details": json_.loads(link.details)})
        else:
            output.say(f"{link.seq}  {at}  {link.actor}  {link.action}  {link.subject}")


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


def _parse(noted: str) -> Head:
    try:
        return parse_head(noted)
    except ValueError:
        raise Failure("usage", "--head is a number, a colon and 64 hex digits.") from None
