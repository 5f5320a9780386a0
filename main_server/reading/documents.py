"""What people's questions are answered with, as the portal and scripts get it. Pure.

Names of fields are those of a message's status at the boundary; `why` and `timeline` are added.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from gatepost.clock import iso, to_ms
from main_server.reading.story import Story
from main_server.reading.timeline import Step, reason_in_words


def story_document(story: Story) -> dict[str, Any]:
    row = story.row
    return {
        "message_id": str(UUID(bytes=row.message_id)),
        "client_id": row.client_id,
        "domain": row.domain,
        "status": row.status,
        "reason": row.reason,
        "reason_in_words": reason_in_words(row.reason) if row.status == "failed" else None,
        "created_at": _time(row.created_at),
        "queued_at": _time(row.queued_at),
        "delivered_at": _time(row.delivered_at),
        "expires_at": _time(row.expires_at),
        "attempt_count": row.attempt_count,
        "generation": row.generation,
        "queue": row.queue,
        "duplicate_of": str(UUID(bytes=row.duplicate_of)) if row.duplicate_of else None,
        "why": story.told.why,
        "timeline": [_step(one) for one in story.told.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    return {"kind": step.kind, "at": _time(step.at), "what": step.what, "more": step.more}


def _time(moment: datetime | None) -> str | None:
    return iso(to_ms(moment)) if moment else None
