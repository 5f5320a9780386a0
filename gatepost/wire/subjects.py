"""The forms in which administrators' programs and the main server speak of a report for a data
subject; times are ISO 8601, UTC. No answer holds the number that was asked for but what was sent
under it."""

import msgspec


class SubjectOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number whose messages are asked for."""

    number: str

    def __repr__(self) -> str:
        return "SubjectOrder(…)"


class SubjectReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report that was asked for; `domains` says how many messages there were in each domain
    then."""

    report_id: str
    asked_by: str
    asked_at: str
    expires_at: str
    approved_by: str | None
    messages: int
    domains: dict[str, int]


class SubjectReports(msgspec.Struct, frozen=True):
    reports: list[SubjectReport]


class SubjectMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a report. Its number and body are None where nobody can read them any more."""

    message_id: str
    client_id: str
    domain: str
    status: str
    reason: str | None
    created_at: str
    delivered_at: str | None
    attempt_count: int
    readable: bool
    sender_number: str | None
    message_body: str | None

    def __repr__(self) -> str:
        return f"SubjectMessage({self.message_id}, …)"


class SubjectPage(msgspec.Struct, frozen=True):
    """A page of a report; `after` asks for the next one, and without it this is the last one."""

    report: SubjectReport
    messages: list[SubjectMessage]
    after: str | None
