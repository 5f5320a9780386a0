"""Answers to people's questions, as the portal and scripts get them. Pure."""

from datetime import datetime
from uuid import UUID

from gatepost.clock import iso, to_ms
from gatepost.ids import id_ms
from gatepost.wire.shown import Listed, Message, MessagePage, Step
from main_server.messages.reading import search, timeline
from main_server.messages.reading.story import Story
from main_server.messages.reading.timeline import reason_in_words


def message_document(story: Story) -> Message:
    row = story.row
    return Message(
        message_id=str(UUID(bytes=row.message_id)),
        client_id=row.client_id,
        domain=row.domain,
        status=row.status,
        reason=row.reason,
        created_at=time(row.created_at),
        queued_at=time(row.queued_at),
        delivered_at=time_or_none(row.delivered_at),
        expires_at=time(row.expires_at),
        attempt_count=row.attempt_count,
        generation=row.generation,
        queue=row.queue,
        duplicate_of=str(UUID(bytes=row.duplicate_of)) if row.duplicate_of else None,
        readable=row.key_id is not None,
        why=story.told.why,
        timeline=[_step(one) for one in story.told.steps],
        registered=story.registered,
    )


def page_document(page: search.Page) -> MessagePage:
    looked = page.before if page.before is not None and not page.full else None
    return MessagePage(
        [_listed(one) for one in page.messages],
        page.before.hex() if page.before else None,
        iso(id_ms(UUID(bytes=looked))) if looked else None,
    )


def time(moment: datetime) -> str:
    return iso(to_ms(moment))


def time_or_none(moment: datetime | None) -> str | None:
    return time(moment) if moment else None


def _listed(listed: search.Listed) -> Listed:
    entry = listed.entry
    return Listed(
        message_id=str(UUID(bytes=entry.message_id)),
        client_id=entry.client_id,
        domain=entry.domain,
        status=entry.status,
        reason=entry.reason,
        reason_in_words=reason_in_words(entry.reason) if entry.status == "failed" else None,
        created_at=time(entry.created_at),
        delivered_at=time_or_none(entry.delivered_at),
        due_at=time(entry.due_at) if entry.status == "queued" else None,
        attempt_count=entry.attempt_count,
        sender_number_masked=listed.number,
    )


def _step(step: timeline.Step) -> Step:
    return Step(step.kind, time_or_none(step.at), step.what, step.more)
