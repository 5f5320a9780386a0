"""Retention: for how long whose messages are kept, and whose are not touched at all. Pure.

A message is of the day, in UTC, of the time in its id. Kept for N days, it is kept for N whole days
after that day: what was accepted in the last minute of a day isn't kept for less than it should be.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from gatepost.errors import ConfigurationError, FieldError, Invalid
from gatepost.wire.domains import USUAL_RETENTION_DAYS

RETENTION_DAYS = range(6, 3651)
"""The days that can be set: below six a message of the day might still be delivered."""


@dataclass(frozen=True, slots=True)
class Policies:
    """The days that are set, by domain and by client, which comes first; and legal holds on
    either."""

    domains: Mapping[str, int]
    clients: Mapping[str, int]
    held_domains: frozenset[str] = frozenset()
    held_clients: frozenset[str] = frozenset()

    def days_of(self, client_id: str) -> int:
        own = self.clients.get(client_id)
        return self.days_in(domain_of(client_id)) if own is None else own

    def days_in(self, domain: str) -> int:
        return self.domains.get(domain, USUAL_RETENTION_DAYS)

    def is_held(self, client_id: str) -> bool:
        return client_id in self.held_clients or domain_of(client_id) in self.held_domains

    def is_due(self, client_id: str, day: date, today: date) -> bool:
        return not self.is_held(client_id) and day <= last_due(self.days_of(client_id), today)

    @property
    def shortest(self) -> int:
        return min(self._all)

    @property
    def longest(self) -> int:
        return max(self._all)

    @property
    def _all(self) -> list[int]:
        return [USUAL_RETENTION_DAYS, *self.domains.values(), *self.clients.values()]

    def demand_allowed(self) -> None:
        """Check the days, whatever has put them there; raise ConfigurationError if any can't be:
        below six days a message of the day might still come."""
        wrong = sorted(
            f"{whose}: {days}"
            for whose, days in {**self.domains, **self.clients}.items()
            if days not in RETENTION_DAYS
        )
        if wrong:
            raise ConfigurationError(
                f"retention is between {RETENTION_DAYS[0]} and {RETENTION_DAYS[-1]} days, but the"
                f" ledger has {', '.join(wrong)}. Nothing was done."
            )

    def text(self) -> str:
        """Return the days alone, to be compared with by a later run."""
        return json.dumps({"domains": dict(self.domains), "clients": dict(self.clients)})


def due_by_both(one: Policies, other: Policies) -> Policies:
    """Return policies by which only that is due which is due by each of the two: the longer days,
    and all that they hold."""
    domains, clients = {*one.domains, *other.domains}, {*one.clients, *other.clients}
    return Policies(
        {domain: max(one.days_in(domain), other.days_in(domain)) for domain in domains},
        {client: max(one.days_of(client), other.days_of(client)) for client in clients},
        one.held_domains | other.held_domains,
        one.held_clients | other.held_clients,
    )


def from_text(text: str) -> Policies:
    said = json.loads(text)
    return Policies(said["domains"], said["clients"])


def last_due(days: int, today: date) -> date:
    """Return the last day whose messages were kept for so many days when `today` began."""
    return today - timedelta(days=days + 1)


def domain_of(client_id: str) -> str:
    return client_id.partition(":")[0]


def check_days(days: int | None) -> None:
    if days is not None and days not in RETENTION_DAYS:
        words = f"is between {RETENTION_DAYS[0]} and {RETENTION_DAYS[-1]}"
        raise Invalid(errors=[FieldError("/retention_days", words)])
