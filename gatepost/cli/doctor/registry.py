"""The looks, in the order in which they are shown: those for any service, then the services'."""

from importlib.metadata import entry_points

from gatepost.cli.commands import GROUP
from gatepost.cli.doctor.look import Look
from gatepost.cli.doctor.looks import (
    calls,
    certificates,
    machine,
    owners,
    programs,
    redis,
    settings,
)

LOOKS = f"{GROUP}.looks"
"""The entry points, by a service's name: each is a sequence of Look."""
SPARK = ("py4j", "pyspark")
"""The packages that only a machine of the nightly pipeline has; elsewhere looks that need them have
nothing to look at."""


def all_looks() -> list[Look]:
    found = [
        *settings.LOOKS,
        *owners.LOOKS,
        *certificates.LOOKS,
        *programs.LOOKS,
        *machine.LOOKS,
        *redis.LOOKS,
        *calls.LOOKS,
    ]
    for entry in sorted(entry_points(group=LOOKS), key=lambda entry: entry.name):
        try:
            found += entry.load()
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in SPARK:
                raise
    return found
