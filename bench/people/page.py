"""What was measured, as a page for people and a file for programs."""

from typing import Any

from bench.rig.pages import in_words, whence


def render(results: dict[str, Any]) -> str:
    noise, crowd = results["noise"], results["crowd"]
    parts = [
        "# How long people wait for the portal",
        "",
        "Written by `./dev bench portal --write`; every figure is of that one run, on a stack of",
        "its own, everything on one machine, those who ask included. The messages are of thirty",
        "days, five domains and two hundred clients; in each domain one has a third of all.",
        "",
        whence(),
        f"- noise before the run: {in_words(noise)}",
        f"- {results['rows']:,} messages",
        "",
        "Milliseconds from the request to the first byte of the page, over HTTPS; `entries` are",
        "those of indexes and tables that the database has read for one page, at most.",
        "",
        "| who | what | pages | median | p95 | whole page p95 | entries |",
        "|---|---|---|---|---|---|---|",
        *(_row(one) for one in results["lists"]),
        "",
        f"{crowd['people']} people at once, who each open a page every few seconds"
        f" ({crowd['pages_per_second']} pages/s), and who all open one at the same moment:",
        "",
        "| who | what | pages | median | p95 | whole page p95 | |",
        "|---|---|---|---|---|---|---|",
        _row(crowd["wandering"]),
        _row(crowd["rush"]),
        "",
        "Whole pages in Chromium, from the click until all that they need has been loaded:",
        "",
        "| who | page | times | median | p95 |",
        "|---|---|---|---|---|",
        *(
            f"| {one['who']} | `{one['what']}` | {one['looks']} | {one['median_ms']:.0f}"
            f" | {one['p95_ms']:.0f} |"
            for one in results["chromium"]
        ),
    ]
    return "\n".join(parts) + "\n"


def missed(results: dict[str, Any], p95_ms: float, rows: int, whole_ms: float) -> str | None:
    """What isn't as promised."""
    every = [*results["lists"], results["crowd"]["wandering"]]
    late = [f"{one['who']}, {one['what']}" for one in every if one["p95_ms"] > p95_ms]
    wide = [f"{one['who']}, {one['what']}" for one in every if one.get("rows", 0) > rows]
    said = [f"later than {p95_ms:.0f} ms: {'; '.join(late)}"] if late else []
    said += [f"more than {rows:,} entries: {'; '.join(wide)}"] if wide else []
    slow = [one["what"] for one in results["chromium"] if one["p95_ms"] > whole_ms]
    said += [f"whole pages later than {whole_ms:.0f} ms: {', '.join(slow)}"] if slow else []
    return "\n".join(said) or None


def _row(one: dict[str, Any]) -> str:
    figures = [one["looks"], *(f"{one[name]:.0f}" for name in _TIMES)]
    rows = f"{one['rows']:,}" if "rows" in one else ""
    return f"| {one['who']} | {one['what']} | {' | '.join(map(str, figures))} | {rows} |"


_TIMES = ("median_ms", "p95_ms", "whole_p95_ms")
