"""Entries and checks of the audit log as the portal and scripts get them. Pure."""

from gatepost.clock import iso, to_ms
from gatepost.wire.audited import AuditAction, AuditCheck, AuditEntry, AuditPage, Detail
from main_server.audit.asking import place_text
from main_server.audit.chain import Link
from main_server.audit.check_repository import Check
from main_server.audit.search import Page
from main_server.audit.words import ACTIONS, action_in_words, details_in_words, name_in_words

EMPTY = Page([], None, full=False)
_ACTIONS = [AuditAction(*one) for one in sorted(ACTIONS.items(), key=lambda one: one[1])]


def page_document(page: Page, *, numbered: bool) -> AuditPage:
    """Return a page as it is answered; `numbered` is for those who may know how much everybody
    does."""
    looked = page.before if not page.full else None
    return AuditPage(
        [entry_document(one, numbered=numbered) for one in page.links],
        place_text(page.before),
        iso(to_ms(looked.at)) if looked else None,
        _ACTIONS,
    )


def entry_document(link: Link, *, numbered: bool) -> AuditEntry:
    return AuditEntry(
        number=link.seq if numbered else None,
        at=iso(to_ms(link.at)),
        actor=link.actor,
        actor_in_words=name_in_words(link.actor),
        action=link.action,
        action_in_words=action_in_words(link.action),
        domain=link.domain,
        subject=link.subject,
        subject_in_words=name_in_words(link.subject),
        details=[Detail(*one) for one in details_in_words(link.details)],
    )


def check_document(check: Check) -> AuditCheck:
    return AuditCheck(
        state=check.state,
        actor_in_words=name_in_words(check.actor),
        created_at=iso(to_ms(check.created_at)),
        ended_at=iso(to_ms(check.ended_at)) if check.ended_at else None,
        entries=check.seq,
        of=check.head_seq,
        head=str(check.head),
        up_to=iso(to_ms(check.up_to)) if check.up_to else None,
        fault=check.fault,
    )
