"""Find a certificate's holder by what a person calls it: `name`, `name.domain` or `domain:name`."""

import re
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine

from gatepost.errors import BadIdentity, Invalid, NotFound
from gatepost.trust.identity import Identity, Role
from main_server.ca import repository
from main_server.store.database import transact


@dataclass(frozen=True, slots=True)
class Holder:
    """A holder as somebody has named it; without a domain, whoever has that name: there must be one
    only."""

    name: str
    domain: str | None


def parse_holder(text: str) -> Holder:
    """Read what names a holder; raise BadIdentity for anything that could mean something else."""
    if ":" in text:
        domain, _, name = text.partition(":")
    else:
        name, _, domain = text.partition(".")
    if not domain and text != name:
        raise BadIdentity("a client is name, name.domain or domain:name")
    Identity(domain or "any", Role.CLIENT, name)
    return Holder(name, domain or None)


SERIAL = re.compile(r"\A[0-9a-f]{32}\Z")
CLIENT_ID = re.compile(r"\A[a-z0-9.-]{1,128}:[A-Za-z0-9_-]{1,64}\Z")
"""A page of a list ends with a `SERIAL` or a `CLIENT_ID`."""


def check_after(after: str, ends_with: re.Pattern[str]) -> None:
    """Check `after`; raise Invalid if no page can have ended with it: the audit log keeps it, and
    it may be anything that somebody has typed."""
    if after and not ends_with.match(after):
        raise Invalid("No page ends with that: begin at the first one.")


def find_holder(engine: Engine, text: str, within: str | None = None) -> tuple[str, str]:
    """Return domain and name of somebody who is known; `within` is the one domain that is looked
    into."""
    holder = parse_holder(text)
    found = transact(engine, partial(repository.find_domains, name=holder.name))
    fitting = [d for d in found if holder.domain in (None, d) and within in (None, d)]
    if not fitting:
        raise NotFound("Nobody of that name is known.")
    if len(fitting) > 1:
        raise Invalid(f"That name is in several domains ({', '.join(fitting)}): say domain:name.")
    return fitting[0], holder.name


def place_holder(engine: Engine, text: str, within: str | None = None) -> tuple[str, str]:
    """Return domain and name of somebody who may be new; a domain that isn't said is the only one
    that there is."""
    holder = parse_holder(text)
    if within is not None and holder.domain in (None, within):
        return within, holder.name
    if within is not None:
        raise NotFound("There is no such domain.")
    if holder.domain is None:
        known = transact(engine, repository.list_partners_domains)
        if len(known) != 1:
            raise Invalid("Say whose it is: name.domain or domain:name.")
        return known[0], holder.name
    return holder.domain, holder.name
