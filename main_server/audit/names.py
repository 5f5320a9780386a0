"""The names of people: a name is theirs within a domain, as `alice@example.com`."""

import re
from collections.abc import Iterable

from gatepost.errors import Invalid
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, is_domain

_NAME = re.compile(r"\A[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?\Z")


def parse_name(text: str) -> tuple[str, str]:
    """Return domain and name; without a domain the name is of one of those who look after the
    gateway."""
    name, at, domain = text.strip().lower().rpartition("@")
    if not at:
        name, domain = domain, INFRASTRUCTURE_DOMAIN
    if not is_name(name):
        raise Invalid("A name is 1 to 64 letters, digits, '.', '_' and '-', as alice@example.com.")
    if not is_domain(domain):
        raise Invalid("A domain is lower-case letters, digits and '-', in parts joined by dots.")
    return domain, name


def is_name(text: str) -> bool:
    return _NAME.match(text) is not None


def client_ids_of(domain: str, named: Iterable[str]) -> frozenset[str]:
    """Return clients' ids; they are called by their name alone where their domain is clear."""
    return frozenset(one if ":" in one else f"{domain}:{one}" for one in named)


def actor_of(domain: str, name: str) -> str:
    """Return a person's name as an actor, beside the URIs of certificates, which know no such
    role."""
    return f"gatepost://{domain}/user/{name}"
