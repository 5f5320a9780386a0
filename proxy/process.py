"""One process of the proxy: its resources, its loops, its port."""

from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import httpx
from redis.asyncio import Redis

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.loops import Loops
from gatepost.queue import Queues, connect
from gatepost.service.bodies import Bodies
from gatepost.service.calls import main_server_asked, main_server_client
from gatepost.service.draining import LastAnswers
from gatepost.service.exporting import exporting
from gatepost.service.live import Live
from gatepost.service.ops import helpful, needed
from gatepost.service.redis import RedisWatch, look, redis_loop
from gatepost.service.replaced import Replaced
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.service.revocation import start_watch
from gatepost.service.revocation_sources import redis_asked
from gatepost.service.serving import serve
from gatepost.service.supervisor import Child
from gatepost.service.tracing import Tracer
from gatepost.service.vitals import Voice, start_speaking
from proxy.bundles import BundleCache, bundle_loop
from proxy.claims import Claims
from proxy.commit import Commit
from proxy.depths import Depths, depths_loop
from proxy.edge import Edge
from proxy.endpoints import MESSAGES, POSTS, create_app
from proxy.intake import Intake
from proxy.keyed import KeyedCommit
from proxy.limits import Limits
from proxy.metrics import IntakeMetrics
from proxy.renewal import Renewals
from proxy.revocations import RevocationsCache
from proxy.senders import Senders
from proxy.settings import ProxySettings
from proxy.statuses import Statuses
from proxy.stores import LedgerStore, QueueStore


async def main(settings: ProxySettings, child: Child) -> None:
    async with AsyncExitStack() as stack:
        clock, replaced, senders = Clock(), Replaced(child.log), Senders()
        revoked = replaced.open_view(settings.tls.ca_file, clock)
        main_server = await stack.enter_async_context(
            main_server_client(settings.main_server, 16, revoked, replaced)
        )
        redis: Redis = await stack.enter_async_context(connect(settings.redis.address()))
        heard = partial(connect, settings.redis.address(), 1)
        queues = Queues(redis, settings.redis.queue_name)
        depths, live = Depths(settings.server.workers), Live(child.log)
        revoked.when_revoked(live.cut)
        tracer = await stack.enter_async_context(exporting("proxy", settings.tracing, child.log))
        commit, counted = _make_commit(settings, child.log, queues, main_server, tracer)
        watch = RedisWatch(answers=commit.queue_answers)
        keyed = KeyedCommit(Claims(redis), commit)
        edge = Edge(
            revoked=revoked,
            senders=senders,
            depths=depths,
            limits=Limits(redis, settings.server.workers, settings.rate_limiting),
            rules=settings.validation,
            intake=Intake(clock, senders, queues, commit, keyed, counted.count),
            statuses=Statuses(main_server, queues),
            renewals=Renewals(main_server),
            drained=lambda: child.drain.is_over(settings.draining.grace_seconds),
        )
        metrics = RequestMetrics("proxy", POSTS, (200, 202, 500, 503))
        app = LastAnswers(
            _surround(settings, child, create_app(edge), metrics, tracer), child.drain
        )
        tls = replaced.open_port(settings.tls.files(), live, lambda: senders.anchors)
        lists = RevocationsCache(settings.cache.folder, child.log)
        lists.load(revoked)

        voice = Voice(
            "proxy",
            lambda: {
                "bundle": needed(senders.problem),
                "revocations": needed(revoked.problem),
                "stores": needed(commit.problem),
                "queue": helpful(commit.queue_problem),
                "ledger": helpful(commit.ledger_problem),
                "time": needed(None if clock.known else "no shared clock heard yet"),
                "clock": helpful(clock.note),
                "intake": helpful(senders.note),
                "drain": needed(child.drain.words(settings.draining.grace_seconds)),
            },
            depths.totals,
            partial(metrics.answered, MESSAGES),
        )

        await look(redis, clock)  # before the first id is made
        async with Loops(child.stop) as loops:
            loops.start(
                bundle_loop(
                    child.stop,
                    child.log,
                    main_server,
                    senders,
                    BundleCache(settings.cache.folder),
                    watch,
                    clock,
                    commit.ledger_answers,
                )
            )
            start_watch(
                loops,
                child.stop,
                child.log,
                revoked,
                heard,
                [
                    redis_asked(heard),
                    main_server_asked(settings.main_server, revoked, replaced),
                ],
                lists.keep,
            )
            loops.start(redis_loop(child.stop, child.log, redis, watch, clock))
            loops.start(depths_loop(child.stop, senders, queues, depths))
            loops.start(replaced.loop(child.stop))
            loops.start(lists.loop(child.stop))
            loops.start(serve(app, child.listeners[0], tls, child.stop, live))
            start_speaking(loops, child, redis, voice, clock)


def _surround(
    settings: ProxySettings,
    child: Child,
    app: Any,
    metrics: RequestMetrics,
    tracer: Tracer | None,
) -> Requests:
    return Requests(app, child.log, metrics, tracer, Bodies(settings.server.bodies_bytes))


def _make_commit(
    settings: ProxySettings,
    log: Log,
    queues: Queues,
    main_server: httpx.AsyncClient,
    tracer: Tracer | None,
) -> tuple[Commit, IntakeMetrics]:
    metrics = IntakeMetrics()
    queue = QueueStore(queues, log, metrics.timing("queue"), tracer)
    ledger = LedgerStore(
        main_server,
        settings.main_server.timeout,
        log,
        queue_skipped=lambda: queue.breaker.open,
        took=metrics.timing("ledger"),
        tracer=tracer,
    )
    return Commit(queue, ledger), metrics
