"""The part of a snapshot that somebody sees (I12). Pure.

A domain's administrator sees their own domain's counts, and the queue that is theirs alone; of what
is shared they see whether it is well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from gatepost.cli.words import duration
from gatepost.clock import from_ms, iso, to_ms
from gatepost.queue import Stats
from gatepost.wire.overview import ExpiresSoon, Flow, OfDomain, Overview, Part, Process, Waiting
from main_server.audit.words import name_in_words
from main_server.health.overview.collecting import SAMPLE_SECONDS, Sample, Snapshot
from main_server.health.overview.heard import Counted
from main_server.health.overview.parts import parts_of, problems_of
from main_server.people.users.viewer import UserRole, Viewer
from main_server.tenants.pauses.repository import EVERYWHERE, Pause, What

STEADY = 5
"""The number of samples that a rate a second is taken from: one alone jumps about."""
BEHIND_MS = 30_000
"""The wait for a worker, in ms, past which the oldest message shows that its queue is behind."""


def overview_for(viewer: Viewer, snapshot: Snapshot) -> Overview:
    whole = viewer.role is UserRole.SUPER_ADMIN
    domain = None if whole else viewer.domain
    queues = _queues_of(snapshot, domain)
    parts = parts_of(snapshot.checks, snapshot.processes, whole=whole)
    return Overview(
        at=iso(snapshot.at_ms),
        domain=domain,
        covers_seconds=int(len(snapshot.samples) * SAMPLE_SECONDS),
        accepted=_flow(snapshot.samples, "accepted", domain),
        delivered=_flow(snapshot.samples, "delivered", domain),
        retried=_flow(snapshot.samples, "retried", domain),
        failed=_flow(snapshot.samples, "failed", domain),
        waiting=_waiting(snapshot, queues, domain),
        parts=[*parts, _queue_part(snapshot, queues, domain), *_intake_part(snapshot, domain)],
        processes=_processes(snapshot) if whole else [],
        domains=_domains(snapshot) if whole else [],
        certificates=_certificates(snapshot, domain),
    )


def _queues_of(snapshot: Snapshot, domain: str | None) -> set[str]:
    """Return the queues whose lengths they may know: none that others wait in, too."""
    domains = snapshot.survey.domains if snapshot.survey else []
    left = snapshot.survey.left if snapshot.survey else {}
    if domain is None:
        present = {snapshot.queue_of(one.queue) for one in domains}
        return {snapshot.default_queue} | present | set(left)
    own = {snapshot.queue_of(one.queue) for one in domains if one.name == domain}
    own |= {queue for queue, whose in left.items() if whose == domain}
    return own - {snapshot.queue_of(one.queue) for one in domains if one.name != domain}


def _flow(samples: Sequence[Sample], kind: str, domain: str | None) -> Flow:
    counted = [_counted(sample, kind, domain) for sample in samples]
    known = [one.per_second for one in counted[-STEADY:] if one is not None]
    return Flow(
        round(sum(known) / len(known), 1) if known else None,
        sum(one.count for one in counted if one is not None),
        [None if one is None else round(one.per_second, 1) for one in counted],
    )


def _counted(sample: Sample, kind: str, domain: str | None) -> Counted | None:
    if sample.flows is None:
        return None
    if domain is not None:
        return sample.flows.get((kind, domain), Counted())
    return sample.in_all.get(kind, Counted())


def _waiting(snapshot: Snapshot, queues: set[str], domain: str | None) -> Waiting | None:
    series = [
        sample.waiting if domain is None else _undelivered(sample, queues)
        for sample in snapshot.samples
    ]
    stats = _stats(snapshot.samples[-1:], queues)
    if not queues or stats is None:
        return None
    known = snapshot.survey.domains if snapshot.survey else []
    return Waiting(
        undelivered=sum(one.waiting for one in stats),
        ready=sum(one.reservable for one in stats),
        retrying=sum(one.delayed for one in stats),
        in_hand=sum(one.leased for one in stats),
        in_line=sum(one.in_line for one in stats),
        exposed=sum(one.exposed for one in stats),
        oldest_ms=max((one.oldest_ms for one in stats), default=0),
        limit=next((one.max_undelivered for one in known if one.name == domain), None),
        series=[None if one is None else float(one) for one in series],
    )


def _stats(latest: Iterable[Sample], queues: set[str]) -> list[Stats] | None:
    for sample in latest:
        if sample.queues is not None:
            return [stats for name, stats in sample.queues.items() if name in queues]
    return None


def _undelivered(sample: Sample, queues: set[str]) -> int | None:
    stats = _stats([sample], queues)
    return None if stats is None else sum(one.waiting for one in stats)


def _queue_part(snapshot: Snapshot, queues: set[str], domain: str | None) -> Part:
    asked = queues
    if domain is not None and not queues:
        domains = snapshot.survey.domains if snapshot.survey else []
        asked = {snapshot.queue_of(one.queue) for one in domains if one.name == domain}
    if paused := _paused(snapshot, What.QUEUE, asked):
        return Part("Queue", "trouble", _in_words("Paused by hand", paused, domain))
    stats = _stats(snapshot.samples[-1:], asked)
    if stats is None:
        return Part("Queue", "unknown", "Not known: Redis does not answer.")
    oldest = max((one.oldest_ms for one in stats), default=0)
    shared = "" if queues else " It is shared, so how much waits there is not shown."
    if oldest <= BEHIND_MS:
        return Part("Queue", "ok", f"Keeps up.{shared}")
    waits = f" The oldest has waited for a worker for {duration(oldest / 1000)}." if queues else ""
    return Part("Queue", "trouble", f"Is behind.{waits}{shared}")


def _intake_part(snapshot: Snapshot, domain: str | None) -> Iterator[Part]:
    """Yield the part for intake only if intake is paused for one of the domains that are shown."""
    domains = snapshot.survey.domains if snapshot.survey else []
    names = {one.name for one in domains} if domain is None else {domain}
    if paused := _paused(snapshot, What.INTAKE, names | {EVERYWHERE}):
        yield Part("Intake", "trouble", _in_words("Posts are answered 503", paused, domain))


def _paused(snapshot: Snapshot, what: What, names: set[str]) -> list[Pause]:
    found = snapshot.survey.pauses if snapshot.survey else ()
    return [one for one in found if one.what == what and one.name in names]


def _in_words(begin: str, paused: Sequence[Pause], domain: str | None) -> str:
    """Say what is paused. Who paused it and why is for those who run the place: it may be
    shared."""
    if domain is not None:
        return f"{begin} since {min(one.since for one in paused):%Y-%m-%d %H:%M} UTC."
    each = [
        f"{'all domains' if one.name == EVERYWHERE else one.name} since"
        f" {one.since:%Y-%m-%d %H:%M} UTC by {name_in_words(one.actor)} ({one.reason})"
        for one in paused
    ]
    return f"{begin}: {'; '.join(each)}."


def _processes(snapshot: Snapshot) -> list[Process]:
    return [
        Process(
            service=one.service,
            machine=one.machine,
            pid=one.pid,
            version=one.version,
            up_seconds=one.up_ms // 1000,
            silent_seconds=int(silent),
            problems=problems_of(one),
        )
        for one, silent in snapshot.processes
    ]


def _domains(snapshot: Snapshot) -> list[OfDomain]:
    domains = snapshot.survey.domains if snapshot.survey else []
    names = [snapshot.queue_of(one.queue) for one in domains]
    sharing, troubles = Counter(names), Counter[tuple[str, str]]()
    for sample in snapshot.samples:
        troubles.update(sample.troubles)
    return [
        _domain(snapshot, one.name, queue, sharing[queue] > 1, troubles)
        for one, queue in zip(domains, names, strict=True)
    ]


def _domain(
    snapshot: Snapshot, domain: str, queue: str, shared: bool, troubles: Counter[tuple[str, str]]
) -> OfDomain:
    latest = snapshot.samples[-STEADY:]
    queues = latest[-1].queues if latest else None
    stats = queues.get(queue) if queues else None
    return OfDomain(
        domain=domain,
        accepted=_flow(latest, "accepted", domain).per_second,
        delivered=_flow(latest, "delivered", domain).per_second,
        retried=troubles["retried", domain],
        failed=troubles["failed", domain],
        undelivered=stats.waiting if stats else None,
        oldest_ms=stats.oldest_ms if stats else None,
        shared=shared,
    )


def _certificates(snapshot: Snapshot, domain: str | None) -> list[ExpiresSoon]:
    now = from_ms(snapshot.at_ms)
    found = snapshot.survey.expiring if snapshot.survey else []
    return [
        ExpiresSoon(one.domain, one.role, one.name, _iso(one.not_after), (one.not_after - now).days)
        for one in found
        if domain in (None, one.domain) and one.not_after > now
    ]


def _iso(moment: datetime) -> str:
    return iso(to_ms(moment.replace(tzinfo=UTC)))
