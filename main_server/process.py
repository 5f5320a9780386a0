"""One process of the main server: its resources, its loops, its two ports."""

from functools import partial

from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.errors import KeysUnavailable
from gatepost.loops import Loops, backoff, pause
from gatepost.queue import Queues, connect
from gatepost.service.api import HotPosts, create_api
from gatepost.service.bodies import Bodies
from gatepost.service.exporting import exporting
from gatepost.service.live import Live
from gatepost.service.ops import helpful, needed
from gatepost.service.redis import RedisWatch, redis_loop
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.service.serving import serve
from gatepost.service.supervisor import Child
from gatepost.service.vitals import Voice, start_speaking
from main_server.api.admin import (
    anchors,
    certificates,
    clients,
    endings,
    retention,
    tokens,
    withdrawing,
)
from main_server.api.admin.subjects import create_router as create_subjects_router
from main_server.api.administrators import by_certificate, by_session
from main_server.api.context import Context, identify
from main_server.api.internal.bundle import create_router as create_edge_router
from main_server.api.internal.certificates import create_router as create_holding_router
from main_server.api.internal.messages import create_posts
from main_server.api.internal.messages import create_router as create_messages_router
from main_server.api.pki import PkiApp
from main_server.api.portal.account import create_router as create_users_router
from main_server.api.portal.audit import create_router as create_audit_router
from main_server.api.portal.domains import create_router as create_domains_router
from main_server.api.portal.failed import create_router as create_failed_router
from main_server.api.portal.messages import create_router as create_reading_router
from main_server.api.portal.overview import create_router as create_overview_router
from main_server.api.portal.people import create_router as create_administering_router
from main_server.api.portal.proving import create_router as create_proving_router
from main_server.api.portal.redrives import create_router as create_redrives_router
from main_server.api.portal.reports import create_router as create_reports_router
from main_server.api.portal.rights import create_router as create_rights_router
from main_server.api.portal.second_step import create_router as create_second_step_router
from main_server.api.portal.sessions import create_router as create_sessions_router
from main_server.audit.loop import audit_loop
from main_server.ca.callers import Callers, callers_loop
from main_server.ca.online import OnlineCa
from main_server.ca.watch import Watch
from main_server.health.overview.collecting import Collector
from main_server.health.reports.answers import answers_loop
from main_server.health.watching.loop import start_watching
from main_server.keys.loop import keys_loop
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.keys.service import Keyring, open_keyring
from main_server.messages.failed.loop import redrive_loop
from main_server.messages.housekeeping import housekeeping_loop, today
from main_server.messages.partitions import ensure_partitions
from main_server.messages.reconcile.loop import Reconciler
from main_server.people.users.passwords import Passwords
from main_server.settings import MainServerSettings
from main_server.store import schema as migrating
from main_server.store.checks import Checks, Safety
from main_server.store.database import Ledger, RequestLedger, create_ledger_engine
from main_server.store.replica.shown import open_shown

PKI_BODIES_BYTES = 16 * 1024 * 1024
"""Room for requests for certificates and questions about them, of 48 KiB at the most."""


async def main(settings: MainServerSettings, child: Child) -> None:
    clock, redis_clock, callers = Clock(), Clock(), Callers()  # the ledger sets the first clock
    watched = Watch(child.log, settings, clock)
    ledger = Ledger(create_ledger_engine(settings.database), settings.database.pool_size)
    shown = open_shown(child.log, ledger, clock, settings.replica)
    masters = MasterKeys(partial(read_master_keys, settings.keys.master_key_file))
    watch, safety = RedisWatch(), Safety(settings.environment == "production")
    redis = connect(settings.redis.address())
    queues = Queues(redis, settings.redis.queue_name)
    voice = Voice(
        "main_server",
        lambda: {
            "ledger": needed(callers.problem),
            "revocations": needed(watched.revoked.problem),
            "redis": helpful(watch.problem),
            "clock": helpful(clock.note or redis_clock.note),
            "safety": needed(safety.problem),
            **({"replica": helpful(shown.problem)} if settings.replica else {}),
        },
    )
    async with (
        redis,
        exporting("main_server", settings.tracing, child.log) as tracer,
        Loops(child.stop) as loops,
    ):
        start_speaking(loops, child, redis, voice, clock, redis_clock)
        keyring = await _wait_for_keyring(child, ledger, masters, callers, clock)
        checks = Checks(child.log, ledger, redis, safety)
        if keyring is not None:
            await checks.wait(child.stop)
        if keyring is None or child.stop.is_set():
            return
        context = Context(
            RequestLedger(ledger),
            shown,
            keyring,
            clock,
            callers,
            OnlineCa(child.log, settings.ca, ledger, clock, redis),
            watched.revoked,
            watched.source,
            Passwords(),
            queues,
            Collector(queues, ledger, clock, voice.checks),
            settings.second_step_demanded,
            tracer,
        )
        watched.start(loops, child.stop, redis)
        loops.start(callers_loop(child.stop, child.log, ledger, clock, callers))
        loops.start(Reconciler(child.log, ledger, keyring, queues, clock).loop(child.stop))
        for loop in (redrive_loop, audit_loop, housekeeping_loop):
            loops.start(loop(child.stop, child.log, ledger, clock))
        loops.start(redis_loop(child.stop, child.log, redis, watch, redis_clock))
        start_watching(loops, child.stop, redis, ledger, clock)
        context.overview.start(loops, child.stop, redis)
        loops.start(answers_loop(child.stop, ledger, clock, context.overview.heard))
        loops.start(checks.loop(child.stop))
        loops.start(shown.pulse_loop(child.stop))
        context.ca.start(loops, child.stop)
        loops.start(keys_loop(child.stop, child.log, ledger, keyring, redis_clock, settings.keys))
        _start_ports(loops, child, context, watched, settings)


def _start_ports(
    loops: Loops, child: Child, context: Context, watched: Watch, settings: MainServerSettings
) -> None:
    """Start both ports. What strangers send to the one takes no room from what our own send to the
    other."""
    metrics = RequestMetrics("main_server")
    bodies = Bodies(settings.server.bodies_bytes, share=2)  # all processes of a proxy are one
    app = Requests(create_app(context), child.log, metrics, bodies=bodies)
    strangers = PkiApp(context.ca, settings.trusted_proxies)
    pki = Requests(strangers, child.log, metrics, bodies=Bodies(PKI_BODIES_BYTES))
    loops.start(serve(app, child.listeners[0], watched.port, child.stop, watched.live))
    loops.start(serve(pki, child.listeners[1], None, child.stop, Live(child.log)))


def create_app(context: Context) -> HotPosts:
    api = create_api("Gatepost main server")
    api.include_router(create_edge_router(context))
    api.include_router(create_messages_router(context))
    api.include_router(create_holding_router(context))
    by_program = by_certificate(context)
    for prefix, admin in (("/admin", by_program), ("/api/portal", by_session(context))):
        for holding in (certificates, withdrawing, tokens, clients, endings, retention):
            api.include_router(holding.create_router(context, prefix, admin))
    api.include_router(anchors.create_router(context, by_program))
    api.include_router(create_subjects_router(context, by_program))
    api.include_router(create_sessions_router(context))
    api.include_router(create_proving_router(context))
    api.include_router(create_users_router(context))
    api.include_router(create_rights_router(context))
    api.include_router(create_administering_router(context))
    api.include_router(create_second_step_router(context))
    api.include_router(create_reading_router(context))
    api.include_router(create_failed_router(context))
    api.include_router(create_redrives_router(context))
    api.include_router(create_audit_router(context))
    api.include_router(create_domains_router(context))
    api.include_router(create_overview_router(context))
    api.include_router(create_reports_router(context))
    return HotPosts(api, identify(context), create_posts(context))


async def _wait_for_keyring(
    child: Child, ledger: Ledger, masters: MasterKeys, callers: Callers, clock: Clock
) -> Keyring | None:
    """Wait until the ledger is there and migrated, and return the keyring: nothing can be served
    without it."""
    for wait in backoff(0.2, 5.0):
        try:
            problem = await ledger.run(migrating.problem)
            if problem is None:
                await callers.ask(ledger, clock)
                await ledger.run(ensure_partitions, today(clock))
                return await ledger.run(open_keyring, masters)
            callers.problem = problem
        except KeysUnavailable as error:
            callers.problem = error.detail
        except SQLAlchemyError as error:
            callers.problem = f"the ledger does not answer: {type(error).__name__}"
        child.log.warning("ledger.waiting", reason=callers.problem)
        await pause(child.stop, wait)
        if child.stop.is_set():
            break
    return None
