"""What was measured, as a page for people and a file for programs."""

from collections.abc import Callable
from typing import Any

from bench.rig.pages import in_words, whence

MIB = 2**20


def render(results: dict[str, Any]) -> str:
    """Return the page; it has a section for each measurement that was made."""
    parts = [
        "# Performance of the queue engine",
        "",
        "Written by `./dev bench queue --write`; every figure is of that one run. Redis with",
        f"`appendfsync always`, messages of {results['payload_bytes']} bytes that expire,",
        "everything on one machine, the measuring process included. Ratios hold elsewhere,",
        "absolute figures do not. Noise is what others took of the machine just before, and how",
        "unevenly a fixed work took its time (1.0 is even).",
        "",
        whence(),
        f"- {results['redis']}, {results['loop']}",
    ]
    for name, section in SECTIONS.items():
        if name in results:
            parts += ["", *section(results[name])]
    return "\n".join(parts) + "\n"


def _rates(rows: list[dict[str, Any]]) -> list[str]:
    return [
        "## Rates by batch size",
        "",
        "Messages a second over one connection, one call after the other. The yardstick promises",
        "nothing: LPUSH, then BRPOP for single messages and pipelines of RPOP for batches. CPU is",
        "what Redis used for each message from beginning to end. Medians of three rounds in turns.",
        "",
        "| batch | enqueue | reserve | acknowledge | LPUSH | BRPOP / RPOP | Redis CPU µs, engine"
        " | Redis CPU µs, yardstick | noise |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            _row(
                row["batch"],
                *(f"{row[name]:,}" for name in ("enqueue", "reserve", "acknowledge")),
                *(f"{row[name]:,}" for name in ("lpush", "rpop")),
                row["enqueue_reserve_acknowledge_cpu_us"],
                row["lpush_rpop_cpu_us"],
                in_words(row["noise"]),
            )
            for row in rows
        ),
    ]


def _depth(found: dict[str, Any]) -> list[str]:
    rows, last = found["rows"], found["rows"][-1]
    memory = {name: found[f"memory_{name}"] / MIB for name in ("before", "full", "after")}
    return [
        "## Depth",
        "",
        "Messages join at one end and are reserved and acknowledged at the other,",
        f"{found['batch']} at a time, while so many wait; in turns with a queue where",
        f"{found['shallow']:,} wait. µs for each message from beginning to end, medians.",
        "",
        f"| waiting | Redis's CPU | with {found['shallow']:,} | more | elapsed"
        f" | with {found['shallow']:,} | more | noise |",
        "|---|---|---|---|---|---|---|---|",
        *(
            _row(
                f"{row['waiting']:,}",
                *_more(row, "redis"),
                *_more(row, "wall"),
                in_words(row["noise"]),
            )
            for row in rows
        ),
        "",
        "## Memory",
        "",
        f"{last['waiting']:,} messages took {found['bytes_for_each']} bytes each. Redis used"
        f" {memory['before']:.1f} MiB before, {memory['full']:.1f} MiB with all of them, and"
        f" {memory['after']:.1f} MiB after they were settled.",
    ]


def _depth_row(row: dict[str, Any]) -> str:
    waiting = f"{row['waiting']:,}"
    return _row(waiting, *_more(row, "redis"), *_more(row, "wall"), in_words(row["noise"]))


def _more(row: dict[str, Any], what: str) -> tuple[float, float, str]:
    deep, shallow = row[f"deep_{what}_us"], row[f"shallow_{what}_us"]
    return deep, shallow, f"{deep / shallow - 1:+.0%}"


def _idle(found: dict[str, Any]) -> list[str]:
    return [
        "## An idle pool",
        "",
        f"A worker pool of {found['processes']} processes with nothing to do sends"
        f" {found['commands_per_second']} commands a second to Redis; the pool takes"
        f" {found['pool_core_share']:.1%} of a core, and Redis, with the whole stack at rest,"
        f" {found['redis_core_share']:.1%} ({in_words(found['noise'])}).",
    ]


def _peers(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for row in rows:
        if "failed" in row:
            lines.append(_row(row["name"], "", "failed", row["failed"], ""))
            continue
        rates = (f"{row[name]:,}" for name in ("enqueued_per_second", "worked_per_second"))
        lines.append(_row(row["name"], row["version"], *rates, in_words(row["noise"])))
    return [
        "## Orientation: other queues",
        "",
        "Tasks that do nothing, on the same Redis: one process enqueues one after the other, then",
        "works them off, with each library's own defaults. They promise other things; no contest.",
        "",
        "| library | version | enqueued/s | worked off/s | noise |",
        "|---|---|---|---|---|",
        *lines,
    ]


def _row(*values: object) -> str:
    return "| " + " | ".join(map(str, values)) + " |"


SECTIONS: dict[str, Callable[[Any], list[str]]] = {
    "rates": _rates,
    "depth": _depth,
    "idle": _idle,
    "peers": _peers,
}
