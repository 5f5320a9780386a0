"""The documents that tell the portal and scripts how long messages are kept. Pure."""

from datetime import UTC, date, datetime, time
from uuid import UUID

from gatepost.clock import iso, to_ms
from gatepost.wire import retention as told
from gatepost.wire.domains import USUAL_RETENTION_DAYS
from main_server.audit.words import name_in_words
from main_server.retention.days import DAY
from main_server.retention.service import Asker, Kept
from main_server.tenants.hold_repository import Hold
from main_server.tenants.policy import last_due


def kept_document(kept: Kept, asker: Asker, today: date, last_run: datetime | None) -> told.Kept:
    tomorrow = today + DAY
    return told.Kept(
        domain=kept.subject.domain,
        client_id=kept.subject.client_id,
        retention_days=kept.days,
        own_days=kept.own_days,
        usual_days=USUAL_RETENTION_DAYS if kept.subject.client_id is None else kept.domain_days,
        may_set=asker.domain is None and kept.subject.client_id is not None,
        holds=[hold_document(one, asker) for one in kept.holds],
        next_day=last_due(kept.days, tomorrow).isoformat(),
        next_at=iso(to_ms(datetime.combine(tomorrow, time(), tzinfo=UTC))),
        last_run_at=iso(to_ms(last_run)) if last_run else None,
    )


def hold_document(hold: Hold, asker: Asker) -> told.Hold:
    return told.Hold(
        hold=str(UUID(bytes=hold.hold_id)),
        domain=hold.domain,
        client_id=hold.client_id,
        reason=hold.reason,
        set_by=hold.set_by,
        set_by_in_words=name_in_words(hold.set_by),
        set_at=iso(to_ms(hold.set_at)),
        may_lift=asker.domain is None or not hold.set_for_all,
    )
