"""The things that the endpoints of one process work with, and how they know who calls."""

from collections.abc import Callable
from dataclasses import dataclass

from gatepost.errors import (
    BadIdentity,
    Draining,
    GatepostError,
    IntakePaused,
    RateLimited,
    WrongRole,
)
from gatepost.service.asgi import Scope, header
from gatepost.service.bodies import name_sender
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from gatepost.trust.identity import Role, parse_uri
from gatepost.trust.revoked import Revoked
from gatepost.wire.bundle import KnownAnchor, KnownClient, KnownDomain
from proxy.depths import Depths
from proxy.intake import Intake
from proxy.limits import Limits, Use, rate_headers
from proxy.renewal import Renewals
from proxy.senders import Senders
from proxy.settings import Validation
from proxy.statuses import Statuses

PAUSED_RETRY_SECONDS, DRAINED_RETRY_SECONDS = 30, 1


@dataclass(frozen=True, slots=True)
class Edge:
    revoked: Revoked
    senders: Senders
    depths: Depths
    limits: Limits
    rules: Validation
    intake: Intake
    statuses: Statuses
    renewals: Renewals
    drained: Callable[[], bool] = lambda: False
    """True when this proxy is to be stopped, and it is others' turn to take what comes."""


def sender_of(edge: Edge, scope: Scope) -> KnownClient:
    """Return the client whose certificate this is; raise if it isn't known, or revoked, or
    another's."""
    certificate, fields = scope[CERTIFICATE], context_of(scope).fields
    try:
        anchor = edge.senders.anchor_of(certificate)
        if anchor is not None:
            _check_names(certificate.named, anchor)
        role = certificate.caller.role if anchor is None else Role.CLIENT
        edge.revoked.check(certificate, is_ours=anchor is None)
        if role is not Role.CLIENT:
            raise WrongRole(f"The role {role} may not send.")
        client = edge.senders.identify(certificate, anchor)
        fields["client_id"] = client.identity.client_id
        name_sender(scope, client.identity.client_id)
        edge.senders.check_host(header(scope, b"host"), client)
    except GatepostError as error:
        fields["reason"] = error.detail
        raise
    return client


def _check_names(named: str | None, anchor: KnownAnchor) -> None:
    """Check that a CA that isn't ours speaks of its domain's clients alone, if it uses our names at
    all."""
    if named is None:
        return
    said = parse_uri(named)
    if said.role is not Role.CLIENT:
        raise BadIdentity("a CA that isn't ours names another role than client")
    if said.domain != anchor.domain:
        raise BadIdentity("a CA that isn't ours names a client of another domain than its own")


def check_open(edge: Edge) -> None:
    """Raise Draining where no more posts are taken, whoever sends them."""
    if edge.drained():
        raise Draining(retry_after=DRAINED_RETRY_SECONDS)


def domain_of(edge: Edge, client: KnownClient) -> KnownDomain:
    """Return the client's domain, as long as messages are taken from it; raise IntakePaused or
    Backlogged otherwise."""
    domain = edge.senders.domain_of(client)
    if domain.intake_paused:
        raise IntakePaused(retry_after=PAUSED_RETRY_SECONDS)
    edge.depths.check(domain)
    return domain


async def take_token(
    edge: Edge, scope: Scope, client: KnownClient, count: int = 1, use: Use = Use.SENDING
) -> None:
    """Take tokens; raise RateLimited if there are too few. Every answer to a post says where the
    client stands. Answers to what is asked are alike whatever is asked for (I12): they say it only
    in a refusal."""
    context, granted = context_of(scope), edge.limits.granted(client, use)
    try:
        left = await edge.limits.take(client, count, use)
    except RateLimited as refused:
        context.headers = rate_headers(granted, 0, refused.retry_after, use)
        raise
    if use is Use.SENDING:
        context.headers = rate_headers(granted, left)
