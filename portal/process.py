"""One process of the portal: its resources, its loops, its port."""

from contextlib import AsyncExitStack

from gatepost.clock import Clock
from gatepost.loops import Loops
from gatepost.service.bodies import Bodies
from gatepost.service.calls import main_server_asked, main_server_client
from gatepost.service.live import Live
from gatepost.service.ops import needed
from gatepost.service.replaced import Replaced
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.service.revocation import start_watch
from gatepost.service.serving import serve
from gatepost.service.supervisor import Child
from portal.app import create_app
from portal.assets import Assets
from portal.context import Context
from portal.keys import Keys, keys_loop
from portal.main_server import MainServer
from portal.rendering import Pages
from portal.settings import PortalSettings

CONNECTIONS, FOR_PASSWORDS = 16, 4


async def main(settings: PortalSettings, child: Child) -> None:
    async with AsyncExitStack() as stack:
        replaced, live = Replaced(child.log), Live(child.log)
        revoked = replaced.open_view(settings.main_server.ca_file, Clock())
        calls = main_server_client(settings.main_server, CONNECTIONS, revoked, replaced)
        calls = await stack.enter_async_context(calls)
        hashing = main_server_client(settings.main_server, FOR_PASSWORDS, revoked, replaced)
        hashing = await stack.enter_async_context(hashing)
        main_server, keys, assets = MainServer(calls, hashing), Keys(), Assets()
        own = (settings.tls.cert_file, settings.main_server.cert_file)
        context = Context(
            main_server,
            keys,
            Pages(assets),
            assets,
            settings.domain,
            settings.trusted_proxies,
            own,
            child.stop,
        )
        strict = settings.environment == "production"
        pages = create_app(context, strict_transport=strict)
        bodies = Bodies(settings.server.bodies_bytes)
        app = Requests(pages, child.log, RequestMetrics("portal"), bodies=bodies)
        tls = replaced.open_browser_port(settings.shown_files(), live)
        async with Loops(child.stop) as loops:
            source = main_server_asked(settings.main_server, revoked, replaced)
            start_watch(loops, child.stop, child.log, revoked, None, [source])
            loops.start(replaced.loop(child.stop))
            loops.start(keys_loop(child.stop, child.log, keys, main_server))
            loops.start(serve(app, child.listeners[0], tls, child.stop, live))
            loops.start(
                child.heart_loop(
                    lambda: {
                        "main_server": needed(keys.problem),
                        "revocations": needed(revoked.problem),
                    }
                )
            )
