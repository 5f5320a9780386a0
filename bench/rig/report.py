"""What a run found, as a page that people read and a file that programs read."""

from typing import Any

from bench.rig.pages import in_words, whence

NAMES = {
    "gatepost": "Gatepost",
    "one_at_a_time": "the same code, one message at a time",
    "plain": "the plainest gateway (FastAPI, ORM, LPUSH and BRPOP)",
}


def render(results: dict[str, Any]) -> str:
    parts = [
        "# Performance",
        "",
        "Written by `./dev bench path`; every figure is of that one run, on its own stack:",
        "real mTLS, MariaDB flushing at commit, Redis with `appendfsync always`, everything on one",
        "machine, the load generator included. Ratios hold elsewhere, absolute figures do not.",
        "The table says how much of a core the generator used: far from 1, it held nobody up.",
        "",
        whence(),
        f"- noise before the run: {in_words(results['noise'])}",
        "",
        "## One message a request",
        "",
        "| system | connections | accepted/s | delivered/s meanwhile | backlog left | p50 ms"
        " | p95 ms | p99 ms | generator's core | noise |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in results["subjects"].items():
        for connections in (16, 64):
            parts.append(_singles(NAMES[name], connections, found[f"singles_{connections}"]))
    parts += ["", _ratio(results["subjects"]), ""]
    parts += _complete(results["subjects"].get("gatepost"))
    return "\n".join(parts) + "\n"


def _singles(name: str, connections: int, found: dict[str, Any]) -> str:
    values = [
        name,
        connections,
        found["accepted_per_second"],
        found["delivered_per_second"],
        found["backlog_at_end"],
        found["p50_ms"],
        found["p95_ms"],
        found["p99_ms"],
        found["generator_core_share"],
        in_words(found["noise"]),
    ]
    return "| " + " | ".join(str(value) for value in values) + " |"


def _ratio(subjects: dict[str, Any]) -> str:
    ours = subjects.get("gatepost")
    if ours is None or len(subjects) < 2:
        return ""
    best = ours["singles_64"]["accepted_per_second"]
    said = [
        f"{best / max(1, found['singles_64']['accepted_per_second']):.1f} × {NAMES[name]}"
        for name, found in subjects.items()
        if name != "gatepost"
    ]
    return "At 64 connections Gatepost accepted " + ", and ".join(said) + "."


def _complete(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    batch, drain = found["batches_of_100"], found["drain"]
    late, parked = found["latency_at_100"], found["latency_with_parked"]
    commits = found["ledger_commits"]
    cpu = found["singles_64"]["cpu_us_per_message"]
    return [
        "## The rest of the path",
        "",
        "| what | figure | noise |",
        "|---|---|---|",
        f"| batches of 100, 8 connections | {batch['accepted_per_second']} messages/s accepted,"
        f" p50 {batch['p50_ms']} ms, p95 {batch['p95_ms']} ms, p99 {batch['p99_ms']} ms"
        f" | {in_words(batch['noise'])} |",
        f"| a commit in the ledger, at 64 connections | 95 % within"
        f" {commits['p95_at_most_ms']:g} ms (of {commits['commits']}, each of all messages that"
        " came together) | |",
        f"| post → delivered at 100/s | {_latency(late)} |",
        f"| the same, while {parked['parked']} wait for a later attempt | {_latency(parked)} |",
        f"| a backlog of {drain['backlog']} | {drain['drained_per_second']} messages/s,"
        f" {drain['seconds']} s | {in_words(drain['noise'])} |",
        f"| from nothing to ready, migrations and certificates included"
        f" | {found['start_seconds']} s | |",
        "",
        "CPU for each message at 64 connections: "
        + ", ".join(f"{name} {value} µs" for name, value in cpu.items())
        + ".",
        "",
        "Resident memory of each process at the end: "
        + "; ".join(
            f"{name} {', '.join(f'{value:.0f}' for value in values)} MiB"
            for name, values in found["resident_mib"].items()
        )
        + " (forked processes share part of theirs).",
        "",
        "Killed, and from its new process's first instruction until it is ready to serve: "
        + ", ".join(f"{name} {value} s" for name, value in found["restart_seconds"].items())
        + " (Redis and MariaDB with all that this run has stored).",
    ]


def _latency(found: dict[str, Any]) -> str:
    times = ", ".join(f"{p} {found[f'{p}_ms']} ms" for p in ("mean", "p50", "p95", "p99"))
    return f"{times} ({found['messages']} messages) | {in_words(found['noise'])}"
