"""What the endpoints of one process work with, and how they know who calls."""

from dataclasses import dataclass

from gatepost.bundle import KnownClient
from gatepost.errors import GatepostError, RateLimited, WrongRole
from gatepost.identity import Role
from gatepost.revoked import Revoked
from gatepost.service.asgi import Scope, header
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from proxy.depths import Depths
from proxy.intake import Intake
from proxy.limits import Limits, rate_headers
from proxy.renewal import Renewals
from proxy.senders import Senders
from proxy.settings import Validation
from proxy.statuses import Statuses


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


def sender_of(edge: Edge, scope: Scope) -> KnownClient:
    """The client whose certificate this is; raises if it isn't known, or revoked, or another's."""
    certificate, fields = scope[CERTIFICATE], context_of(scope).fields
    try:
        identity = certificate.caller
        edge.revoked.check(certificate)
        if identity.role is not Role.CLIENT:
            raise WrongRole(f"The role {identity.role} may not send.")
        client = edge.senders.identify(certificate)
        fields["client_id"] = client.identity.client_id
        edge.senders.check_host(header(scope, b"host"), client)
    except GatepostError as error:
        fields["reason"] = error.detail
        raise
    return client


async def take_token(edge: Edge, scope: Scope, client: KnownClient) -> None:
    """Raises RateLimited. Whatever the answer will be, it says where the client stands."""
    context, granted = context_of(scope), edge.limits.granted(client)
    try:
        left = await edge.limits.take(client)
    except RateLimited as refused:
        context.headers = rate_headers(granted, 0, refused.retry_after)
        raise
    context.headers = rate_headers(granted, left)
