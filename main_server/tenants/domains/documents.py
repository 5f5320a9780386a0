"""A domain as the portal and scripts get it. Pure."""

from gatepost.clock import iso, to_ms
from gatepost.wire.domains import USUAL_RETENTION_DAYS, Domain
from main_server.tenants.domains import service
from main_server.tenants.domains.service import Seen


def domain_document(seen: Seen, waiting: int | None = None) -> Domain:
    one = seen.domain
    return Domain(
        domain=one.domain,
        queue=one.queue,
        queue_prefix=service.prefix_of(one.queue),
        former_queues=seen.former_queues,
        max_undelivered=one.max_undelivered,
        retention_days=one.retention_days or USUAL_RETENTION_DAYS,
        retention_is_usual=one.retention_days is None,
        created_at=iso(to_ms(one.created_at)),
        disabled_at=iso(to_ms(one.disabled_at)) if one.disabled_at else None,
        clients=seen.clients,
        people=seen.people,
        waiting=waiting,
        time_zone=one.time_zone,
    )
