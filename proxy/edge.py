"""What the endpoints of one process work with, and how they know who calls."""

from dataclasses import dataclass

from gatepost.bundle import KnownClient
from gatepost.service.asgi import Scope, header
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from proxy.depths import Depths
from proxy.intake import Intake
from proxy.limits import Limits
from proxy.senders import Senders
from proxy.settings import Validation
from proxy.statuses import Statuses


@dataclass(frozen=True, slots=True)
class Edge:
    senders: Senders
    depths: Depths
    limits: Limits
    rules: Validation
    intake: Intake
    statuses: Statuses


def sender_of(edge: Edge, scope: Scope) -> KnownClient:
    """The client whose certificate this is; raises if it isn't known, or not of this Host."""
    client = edge.senders.identify(scope[CERTIFICATE])
    context_of(scope).fields["client_id"] = client.identity.client_id
    edge.senders.check_host(header(scope, b"host"), client)
    return client
