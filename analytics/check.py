"""Check that the lake has what the ledger has.

Only ids are compared: how many a domain has on that day, and the exclusive or of their random
parts. A delivery changes neither, and a day's ids only ever become more. So what was read first and
agrees with what is counted afterwards was complete at that count, whatever happened in between; and
if a late message came meanwhile, the day is read again. The count is the ledger's own even where
rows come from a replica: one that lags behind shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from analytics.errors import CountsDisagree


@dataclass(frozen=True, slots=True)
class Tally:
    """The ids of a domain on a day: their number, and the exclusive or of their last 7 bytes."""

    rows: int
    id_xor: int


Tallies = Mapping[str, Tally]


def tally(messages: DataFrame) -> dict[str, Tally]:
    """Return the tally of each domain in the lake; raise CountsDisagree if an id stands twice."""
    last_bytes = f.conv(f.hex(f.substring("message_id", 10, 7)), 16, 10).cast("long")
    rows = (
        messages.select("domain", "message_id", last_bytes.alias("bits"))
        .groupBy("domain")
        .agg(
            f.count("*").alias("rows"),
            f.count_distinct("message_id").alias("ids"),
            f.bit_xor("bits").alias("id_xor"),
        )
        .collect()
    )
    twice = {row["domain"]: row["rows"] - row["ids"] for row in rows if row["rows"] != row["ids"]}
    if twice:
        raise CountsDisagree(f"Messages stand twice in the lake: {twice}.")
    return {row["domain"]: Tally(row["rows"], row["id_xor"]) for row in rows}


def differences(lake: Tallies, ledger: Tallies) -> list[str]:
    """Return the differences in words; none if they agree."""
    none = Tally(0, 0)
    found = []
    for domain in sorted({*lake, *ledger}):
        ours, theirs = lake.get(domain, none), ledger.get(domain, none)
        if ours.rows != theirs.rows:
            found.append(f"{domain}: {ours.rows} in the lake, {theirs.rows} in the ledger")
        elif ours != theirs:
            found.append(f"{domain}: as many, but not the same messages")
    return found


def total(tallies: Tallies) -> Tally:
    xor = 0
    for one in tallies.values():
        xor ^= one.id_xor
    return Tally(sum(one.rows for one in tallies.values()), xor)
