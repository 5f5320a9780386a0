"""The profile of each role: the use, lifetime and names of hosts that it may be given.

A certificate is a role (I9): a profile never leaves a choice that another role would make.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address

from gatepost.errors import BadOrder
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, OURS_ALONE, Identity, Role
from main_server.ca.authority import Order, Usage

_HOST = re.compile(
    r"\A(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)"
    r"(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\Z"
)
MOST_HOSTS = 20
SHORTEST = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Profile:
    usages: tuple[Usage, ...]
    lifetime: timedelta


_BOTH, _CALLS, _IS_CALLED = (Usage.CLIENT, Usage.SERVER), (Usage.CLIENT,), (Usage.SERVER,)
PROFILES = {
    Role.CLIENT: Profile(_CALLS, timedelta(days=90)),
    Role.PROXY: Profile(_BOTH, timedelta(days=90)),
    Role.WORKER: Profile(_CALLS, timedelta(days=90)),
    Role.PORTAL: Profile(_BOTH, timedelta(days=90)),
    Role.MAIN: Profile(_IS_CALLED, timedelta(days=90)),
    Role.ADMIN: Profile(_CALLS, timedelta(days=30)),
}


def make_order(
    identity: Identity,
    usage: Usage | None = None,
    hosts: Sequence[str] = (),
    lifetime: timedelta | None = None,
) -> Order:
    """Return an order that the role allows, or raise BadOrder with the reason. A lifetime can only
    be shorter than the role's."""
    profile = PROFILES[identity.role]
    if identity.role is Role.CLIENT and identity.domain == INFRASTRUCTURE_DOMAIN:
        raise BadOrder(f"The domain {INFRASTRUCTURE_DOMAIN} is for what we run, not for clients.")
    if identity.role in OURS_ALONE and identity.domain != INFRASTRUCTURE_DOMAIN:
        words = f"works for every domain, so it is of none of them: {INFRASTRUCTURE_DOMAIN}:NAME"
        raise BadOrder(f"What has the role {identity.role} {words}.")
    chosen = usage or profile.usages[0]
    if chosen not in profile.usages:
        raise BadOrder(f"A certificate of the role {identity.role} is not for {chosen.name}.")
    _check_hosts(chosen, hosts)
    longest = profile.lifetime
    if lifetime is not None and not SHORTEST <= lifetime <= longest:
        words = f"between {SHORTEST.seconds // 60} minutes and {longest.days} days"
        raise BadOrder(f"A certificate of the role {identity.role} lives {words}.")
    return Order(identity, chosen, lifetime or longest, tuple(hosts))


def _check_hosts(usage: Usage, hosts: Sequence[str]) -> None:
    if usage is Usage.CLIENT and hosts:
        raise BadOrder("Only a server's certificate names hosts.")
    if usage is Usage.SERVER and not 0 < len(hosts) <= MOST_HOSTS:
        raise BadOrder(f"A server's certificate names 1 to {MOST_HOSTS} hosts (--host).")
    if not all(_is_host(host) for host in hosts):
        raise BadOrder("A host is an address or a lower-case ASCII name, without a wildcard.")


def _is_host(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return bool(_HOST.match(host)) and not host.replace(".", "").isdigit()
    return True
