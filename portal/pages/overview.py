"""The overview, for administrators: as it is now, and going on by itself where scripts may run.

The stream asks the main server anew for each picture, as the person who looks: so it ends with
their session, with their right to it, and holds nothing there between two of them.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

from fastapi import APIRouter, Request, Response

from gatepost.errors import GatepostError, MethodNotAllowed, NotSignedIn, RetryableError
from gatepost.loops import pause
from gatepost.service.access_tokens import verify
from gatepost.service.requests import context_of
from gatepost.wire.overview import Overview
from portal.context import Context
from portal.headers import allow_our_script
from portal.streams import EventStream, event
from portal.visits import Visit, visitor

ASK_SECONDS = 1.5
STREAM_SECONDS = 600.0
A_MOMENT = timedelta(seconds=5)
"""The time by which the main server may have called a token too old that is still good here."""
OVER = (
    "Not live any more: your session is over, or what you may see is another. Load this page again."
)


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/overview")
    signed_in = visitor(context)

    @router.get("")
    async def overview(request: Request, visit: Visit = signed_in) -> Response:
        shown = await _ask(context, visit)
        allow_our_script(request)
        script = context.assets.overview_script.path
        return context.pages.make(request, "overview.html", visit, overview=shown, script=script)

    @router.get("/stream")
    async def stream(request: Request, visit: Visit = signed_in) -> Response:
        """Stream the figures; somebody who may not see them is told so before it begins."""
        if request.method == "HEAD":
            raise MethodNotAllowed("GET")
        shown = await _ask(context, visit)
        context_of(request.scope).event = "overview.streamed"
        give_back = context.streams.take(str(visit.claims.user_id))
        return EventStream(_events(context, visit, shown), give_back)

    return router


async def _ask(context: Context, visit: Visit) -> Overview:
    return await context.main_server.get("/overview", visit.token, Overview)


async def _events(context: Context, visit: Visit, shown: Overview) -> AsyncIterator[bytes]:
    """Yield figures until they may not be shown any more, the stream has lasted long enough, or
    this process stops."""
    now = asyncio.get_running_loop().time
    until = now() + STREAM_SECONDS
    yield _figures(context, visit, shown)
    while now() < until:
        await pause(context.stop, ASK_SECONDS)
        if context.stop.is_set():
            return
        try:
            yield _figures(context, visit, await _ask(context, visit))
        except RetryableError as error:
            yield event("away", error.detail)
        except GatepostError:
            if _is_current(context, visit):
                yield event("over", OVER)
            return


def _is_current(context: Context, visit: Visit) -> bool:
    """Return whether their token would be good yet: then it is their session or their role that
    isn't. With a token that is just too old, a browser comes back and has it replaced."""
    try:
        verify(visit.token, context.keys.known, context.keys.now() + A_MOMENT)
    except NotSignedIn:
        return False
    return True


def _figures(context: Context, visit: Visit, shown: Overview) -> bytes:
    return event("figures", context.pages.part("overview_figures.html", visit, overview=shown))
