"""What was measured, as a page for people."""

from collections.abc import Mapping
from typing import Any

from bench.rig.pages import in_words

STEPS = {
    "extract": "read from the ledger, written to the lake",
    "check": "read again and compared with the ledger",
    "reports": "reports made",
    "publish": "published",
}


def render(results: Mapping[str, Any]) -> str:
    parts = [
        "# What a night of the pipeline costs",
        "",
        "Written by `./dev bench analytics --write` and `./dev drill analytics --write`; every",
        "figure of a chapter is of one run. The job is `gatepost analytics run`, as an operator",
        "runs it, on `local[2]` with 2 GB for the driver, and MariaDB on the same machine. One",
        "client has half of all messages.",
    ]
    for size in ("bench", "drill"):
        if size in results:
            parts += _chapter(results[size])
    return "\n".join(parts) + "\n"


def _chapter(found: Mapping[str, Any]) -> list[str]:
    first, cluster, agreement = found["first"], found["cluster"], found["agreement"]
    return [
        "",
        f"## {found['messages']:,} messages",
        "",
        found["whence"],
        f"- noise before the run: {in_words(found['noise'])}",
        f"- {first['days']} days, the largest of {found['largest_day']:,} messages",
        "",
        "| | all days at once | the largest alone |",
        "|---|---|---|",
        *(
            f"| {words} | {first['steps'][step]:.1f} s | {_of_largest(found, step):.1f} s |"
            for step, words in STEPS.items()
        ),
        f"| together | {first['seconds']:.1f} s, {first['rows_per_second']:,} messages/s"
        f" | {_largest(found):.1f} s, {found['largest_day'] / _largest(found):,.0f} messages/s |",
        f"| its reports again, from the lake (`gatepost analytics rebuild`) | |"
        f" {found['rebuild_seconds']:.1f} s |",
        "",
        f"Peak memory: {_memory(first['peak_mib'])}. On a cluster of two workers with a core each a"
        f" night of {cluster['days']} days and {cluster['rows']:,} messages took"
        f" {cluster['seconds']:.1f} s: {_memory(cluster['peak_mib'])}.",
        "",
        *_retention(found["retention"]),
        "",
        *([*_nights(found["nights"]), ""] if "nights" in found else []),
        f"The {agreement['rows']:,} rows of the reports, counted again: DuckDB, from the same"
        f" Parquet, in {agreement['seconds']['DuckDB']:.1f} s; MariaDB, from the ledger, in"
        f" {agreement['seconds']['MariaDB']:.1f} s; the pipeline had taken"
        f" {first['steps']['reports']:.1f} s. {_agreed(agreement)} Quantiles of delivery times that"
        f" are read from the reports are off by {agreement['worst_quantile']:.1%} at most"
        " (p50, p95, p99 of each domain and day; 4.5 % are promised), numbers of senders by"
        f" {agreement['worst_senders']:.1%} (a domain's day; one standard deviation is 1.6 %).",
    ]


def _retention(found: Mapping[str, Any]) -> list[str]:
    """It is run twice: for whole days, then for one of which rows are deleted."""
    said = {
        "whole": f"whole days, with their {found['whole']['partitions']} partitions",
        "rows": "rows of a day that one domain keeps for longer",
    }
    return [
        "`gatepost retention run`, from the plan to the proof:",
        "",
        "| what goes | messages | data keys | `--dry-run` | run | | peak memory |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {words} | {one['messages']:,} | {one['keys']:,} | {one['plan_seconds']:.1f} s"
            f" | {one['seconds']:.1f} s | {one['messages'] / one['seconds']:,.0f} messages/s"
            f" | {one['peak_mib']:.0f} MiB |"
            for one, words in ((found[name], words) for name, words in said.items())
        ),
    ]


def _largest(found: Mapping[str, Any]) -> float:
    return sum(_of_largest(found, step) for step in STEPS)


def _of_largest(found: Mapping[str, Any], step: str) -> float:
    seconds: float = found["largest"][f"{step}_seconds"]
    return seconds


def _memory(peaks: Mapping[str, float]) -> str:
    return ", ".join(f"{part} {mib:.0f} MiB" for part, mib in sorted(peaks.items()))


def _agreed(agreement: Mapping[str, Any]) -> str:
    wrong = len(agreement["differences"])
    return f"**{wrong} differ.**" if wrong else "All are equal."


def _nights(nights: Mapping[str, Any]) -> list[str]:
    short, long = nights["short"], nights["long"]
    change = long["median"] / short["median"] - 1
    return [
        "A night does the days that are still open, five of them, whatever the lake has:",
        "",
        "| days in the lake | nights | median | messages |",
        "|---|---|---|---|",
        *(
            f"| {days} | {', '.join(f'{one:.1f} s' for one in found['each'])}"
            f" | {found['median']:.1f} s | {found['rows']:,} |"
            for days, found in ((10, short), (365, long))
        ),
        "",
        f"That is {change:+.1%}.",
    ]
