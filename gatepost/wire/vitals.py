"""The vitals that each process tells of itself, once a second, to whoever listens.

They are published in Redis and kept nowhere: a process that has died says nothing, and a full Redis
carries them as well. Totals count from the start of a process, so that a missed turn costs nothing.
"""

from datetime import timedelta
from typing import Annotated

import msgspec
from msgspec import Meta

from gatepost.decoding import json_decoder

CHANNEL = "gatepost:vitals"
EVERY_SECONDS = 1.0
MOST_BYTES = 256 * 1024
MOST_DOMAINS = 1_000
MOST_CHARACTERS = 1_000
"""The most characters of what there is to say of one check."""
ANSWERS_KEPT = timedelta(days=90)
"""The time for which main servers keep what was said of answers, and the pipeline can conclude from
it."""

Name = Annotated[str, Meta(pattern=r"\A[a-z_]{1,32}\Z")]
Detail = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
Ms = Annotated[int, Meta(ge=0)]
Bound = Annotated[str, Meta(pattern=r"\A[0-9]{1,9}(\.[0-9]{1,3})?\Z")]


class Answered(msgspec.Struct, frozen=True):
    """The answers of a proxy to posts of one message since its start, whatever the answer: how
    many, how many of them accepted the message, and how many took no longer than so many
    milliseconds."""

    count: Annotated[int, Meta(ge=0)]
    accepted: Annotated[int, Meta(ge=0)]
    within_ms: dict[Bound, Annotated[int, Meta(ge=0)]]


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    process: Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]
    """An id drawn at its start: another process that comes to have its number is not the same."""
    service: Name
    machine: Annotated[str, Meta(max_length=255)]
    pid: int
    version: Annotated[str, Meta(max_length=64)]
    up_ms: Ms
    """The time since its start, by a clock that nobody sets."""
    checks: dict[Name, tuple[bool, Detail | None]] = {}
    """The checks as /readyz shows them: whether it is ready by each, and what there is to say of
    it."""
    totals: dict[Name, dict[str, Annotated[int, Meta(ge=0)]]] = {}
    """Counts of messages, by what was done with them and by domain."""
    answered: Answered | None = None
    leaving: bool = False


class Tally:
    """The counts of one process, by domain, with one sum for all domains beyond MOST_DOMAINS."""

    def __init__(self) -> None:
        self.totals: dict[str, dict[str, int]] = {}

    def count(self, what: str, domain: str) -> None:
        of_each = self.totals.setdefault(what, {})
        if domain not in of_each and len(of_each) >= MOST_DOMAINS:
            domain = ""
        of_each[domain] = of_each.get(domain, 0) + 1


encode_vitals = msgspec.json.Encoder().encode
decode_vitals = json_decoder(Vitals)
