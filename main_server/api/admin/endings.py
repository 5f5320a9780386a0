"""The last certificates of their holders that are over soon: what the banner on administrators'
pages says.

Nobody is named who has another that lasts longer, so what was renewed in time is no news.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from fastapi import APIRouter, Response
from sqlalchemy import Engine

from gatepost.clock import iso, to_ms
from gatepost.trust.expiry import DAYS, stage_of
from gatepost.wire.holders import Ending, Endings
from main_server.api.context import Context
from main_server.api.portal.messages import answer
from main_server.ca import expiry_repository as repository
from main_server.people.administrator import Administrator
from main_server.store.database import transact

MOST = 50
REMEMBERED = timedelta(days=7)
"""The time for which somebody whose last certificate has expired is still named."""


def create_router(context: Context, prefix: str, admin: Any) -> APIRouter:
    """Return the routes; `admin` is the dependency that says who asks."""
    router = APIRouter(prefix=prefix)

    @router.get("/endings")
    async def endings(asker: Administrator = admin) -> Response:
        """List the endings in an administrator's domain; in all that we run, for those who look
        after that."""
        return answer(await context.ledger.run(list_endings, asker.domain, context.ca.now()))

    return router


def list_endings(engine: Engine, domain: str | None, now: datetime) -> Endings:
    begin, end = now - REMEMBERED, now + timedelta(days=max(DAYS))
    read = partial(repository.list_ending, begin=begin, end=end, domain=domain, limit=MOST)
    found = transact(engine, read)
    return Endings([_ending(one, now) for one in found])


def _ending(one: repository.Ending, now: datetime) -> Ending:
    days = stage_of(one.not_after, now) or 0
    until = iso(to_ms(one.not_after))
    return Ending(one.serial, one.fingerprint, one.identity.uri, one.usage, until, days)
