"""What retention takes, by the command as an operator runs it, on the ledger that the nights have
sealed: first days that all domains have kept for long enough, which go with their partitions; then
a day that one domain keeps for longer than the others, of which rows are deleted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import text

from bench.nights.ledger import DOMAINS, KEYS_SCHEMA, BigLedger
from bench.nights.runs import GATEPOST, Ended, watch
from infra.dev.place import session
from infra.dev.private import write_private

WHOLE_DAYS, SHORTER_DAYS = 7, 6
"""For how long all domains keep at first, and all but one afterwards: as short as may be."""


def take_away(ledger: BigLedger, folder: Path) -> dict[str, Any]:
    """Both, one after the other."""
    config = _configure(ledger, folder)
    domains = [f"town-{n}.example" for n in range(DOMAINS)]
    _keep(ledger, domains, WHOLE_DAYS)
    whole = _night(config)
    _keep(ledger, domains[1:], SHORTER_DAYS)
    return {"whole": whole, "rows": _night(config)}


def _configure(ledger: BigLedger, folder: Path) -> Path:
    master = folder / "master.key"
    write_private(master, ledger.master, mode=0o400)
    user = ledger.server.url("gatepost_retention")
    tree = {
        "environment": "development",
        "database": {"url": user, "keys_schema": KEYS_SCHEMA},
        "keys": {"master_key_file": str(master), "backup_file": str(folder / "keys.backup")},
    }
    file = folder / "retention.yaml"
    write_private(file, yaml.safe_dump(tree))
    return file


def _keep(ledger: BigLedger, domains: Sequence[str], days: int) -> None:
    statement = text("UPDATE domains SET retention_days = :days WHERE domain = :domain")
    with ledger.engine.begin() as connection:
        connection.execute(statement, [{"days": days, "domain": one} for one in domains])


def _night(config: Path) -> dict[str, Any]:
    """What it foresaw is what it is confirmed to do: so much at once is doubtful."""
    foreseen = _run(config, "--dry-run")
    plan = json.loads(foreseen.said)
    done = _run(config, "--confirm", plan["code"])
    found = json.loads(done.said)
    assert (found["state"], found["left"], found["messages"]) == ("done", [], plan["messages"])
    counts = {name: found[name] for name in ("messages", "keys", "partitions")}
    seconds = {"plan_seconds": round(foreseen.seconds, 1), "seconds": round(done.seconds, 1)}
    return counts | seconds | {"peak_mib": done.peak_mib["retention"]}


def _run(config: Path, *options: str) -> Ended:
    command = [str(GATEPOST), "retention", "run", *options, "--json", "--config", str(config)]
    return watch(command, config, lambda pid: [(one, "retention") for one in session(pid)])
