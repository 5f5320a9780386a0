"""Calls the main server with an administrator's certificate, for `gatepost subject …`, and prints
what it says."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO
from uuid import uuid4

import httpx
import typer

from gatepost.cli.connection import Connection, find_connection
from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from gatepost.cli.output import Output
from gatepost.cli.words import plural
from gatepost.client.calls import Call
from gatepost.client.connection import Settings, settings
from gatepost.client.errors import GatepostError, UnexpectedAnswer
from gatepost.client.failures import TransportFailure, explain
from gatepost.client.refusals import refusal
from gatepost.trust.identity import Role

PATH = "/admin/subjects"
TIMEOUT = 60.0
"""Seconds to wait for an answer: whoever sees all domains has all of them looked through."""
STDOUT = Path("-")
_LONGEST_LINE = 1024
_ADDRESS = "It is the main server that is called: https://host:port of its API, not of the proxy."


@dataclass(frozen=True, slots=True)
class Caller:
    """A connection to the main server."""

    http: httpx.Client
    url: str

    def __call__(
        self, method: str, path: str = "", body: object = None, **query: str
    ) -> Mapping[str, Any]:
        call = Call(
            method, f"{PATH}{path}", repeatable=True, headers={"X-Request-Id": str(uuid4())}
        )
        try:
            answer = self.http.request(
                call.method, call.path, headers=call.headers, json=body, params=query
            )
        except TransportFailure as failure:
            raise explain(call, failure) from None
        if not answer.is_success:
            raise refusal(call, answer, datetime.now(UTC))
        try:
            document: Mapping[str, Any] = answer.json()
        except (ValueError, RecursionError):
            raise UnexpectedAnswer("The answer is not JSON.") from None
        return document


def ask(options: Options) -> None:
    output, number = Output(json=options.json), _number()
    with _calling(options) as call:
        asked = call("POST", body={"number": number})
        report_id = asked["report_id"]
        where = f"--url {quote(call.url)}"
    commands = {
        "approve": f"gatepost subject approve {report_id} {where}",
        "fetch": f"gatepost subject report --id {report_id} --output report.json {where}",
    }
    if output.json:
        output.result({**asked, "commands": commands})
        return
    output.say("Report ", (report_id, "bold"), f", until {asked['expires_at']}: {_counts(asked)}")
    output.say("Another administrator looks at it, and approves it:")
    output.say(f"  {commands['approve']}")
    output.say("Then you fetch it:")
    output.say(f"  {commands['fetch']}")


def list_open(options: Options) -> None:
    output = Output(json=options.json)
    with _calling(options) as call:
        found = call("GET")["reports"]
    for one in found:
        if output.json:
            output.result(one)
        else:
            _describe(output, one)
    if not found and not output.json:
        output.say("No report is asked for.")


def approve(options: Options, report_id: str) -> None:
    output = Output(json=options.json)
    with _calling(options) as call:
        approved = call("POST", f"/{report_id}/approve")
    if output.json:
        output.result(approved)
    else:
        output.say(f"Approved. {approved['asked_by']} may fetch it until {approved['expires_at']}.")


def fetch(options: Options, report_id: str, file: Path) -> None:
    """Write the whole report, or no file: a part could be taken for the whole."""
    if file == STDOUT:
        sys.stdout.write(_text(_fetch(options, report_id)))
        return
    with _new(file) as stream:
        report = _fetch(options, report_id)
        stream.write(_text(report).encode())
    messages = report["messages"]
    unreadable = sum(not one["readable"] for one in messages)
    output = Output(json=options.json)
    if output.json:
        counts = {"messages": len(messages), "unreadable": unreadable}
        output.result({"report_id": report_id, "file": str(file), **counts})
        return
    more = f", {unreadable} of which can't be read any more" if unreadable else ""
    output.say(f"{file}: {plural(len(messages), 'message')}{more}.")


def _fetch(options: Options, report_id: str) -> Mapping[str, Any]:
    messages: list[Any] = []
    query: dict[str, str] = {}
    with _calling(options) as call:
        while True:
            page = call("GET", f"/{report_id}/messages", **query)
            messages += page["messages"]
            if page["after"] is None:
                return {**page["report"], "messages": messages}
            query = {"after": page["after"]}


@contextmanager
def _calling(options: Options) -> Iterator[Caller]:
    where = find_connection(options, os.environ, Path.cwd())
    try:
        with httpx.Client(**_settings(where)) as http:
            yield Caller(http, where.url)
    except GatepostError as error:
        hint = _ADDRESS if error.problem is None else None
        details = {"type": error.type, "request_id": error.request_id}
        raise Failure(error.kind, str(error), hint, **details) from None


def _settings(where: Connection) -> Settings:
    files = {"ca": where.ca, "cert": where.cert, "key": where.key}
    try:
        return settings(where.url, **files, timeout=TIMEOUT, expect=Role.MAIN)
    except ValueError:
        words = "The address of the main server is not https://host:port."
        raise Failure("usage", words, f"It comes from {where.origin['url']}.") from None


@contextmanager
def _new(file: Path) -> Iterator[BinaryIO]:
    """Open a new file, for nobody else; it is removed again if what is to be in it fails."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        words = f"{file} is there already, and is not written over."
        raise Failure("usage", words, "Name another file.") from None
    except OSError as error:
        raise Failure("usage", f"{file} can't be made: {error.strerror}.") from None
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _number() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Number, as +1234567890", err=True)).strip()
    number = sys.stdin.buffer.readline(_LONGEST_LINE).decode("utf-8", "replace").strip()
    if not number:
        raise Failure("invalid-input", "There is no number on stdin.")
    return number


def _describe(output: Output, report: Mapping[str, Any]) -> None:
    state = f"approved by {report['approved_by']}" if report["approved_by"] else "not approved"
    output.say((report["report_id"], "bold"), f"  {_counts(report)}")
    output.say(f"  asked for by {report['asked_by']} at {report['asked_at']}; {state}")
    output.say(f"  until {report['expires_at']}")


def _counts(report: Mapping[str, Any]) -> str:
    each = ", ".join(f"{domain} {count}" for domain, count in report["domains"].items())
    return plural(report["messages"], "message") + (f" ({each})" if each else "")


def _text(report: Mapping[str, Any]) -> str:
    return json.dumps(report, indent=2) + "\n"
