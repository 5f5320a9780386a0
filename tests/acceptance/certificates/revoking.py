"""Revoking in a running stack, as a command on the CA's own machine does it."""

import asyncio

from redis.asyncio import Redis

from gatepost.trust.revocation import Reason
from main_server.ca.authority import Authority, load_authority, utc_now
from main_server.ca.revocation import publish, release, revoke
from main_server.ca.revoked.repository import Selection, read_revocations
from main_server.store.database import transact
from tests.acceptance.site import Site
from tests.factories import Pair


def authority_of(site: Site) -> Authority:
    return load_authority(site.stack.place.folder / "ca")


def revoke_now(
    site: Site, pair: Pair, reason: Reason = Reason.KEY_COMPROMISE, *, tell_redis: bool = True
) -> None:
    """When this returns the revoking call has answered."""
    chosen = Selection(serial=pair.certificate.serial)
    done = revoke(site.engine, [authority_of(site)], chosen, reason, utc_now())
    assert done.serials == [pair.certificate.serial]
    if tell_redis:
        publish_now(site)


def release_now(site: Site, pair: Pair) -> None:
    chosen = Selection(serial=pair.certificate.serial)
    assert release(site.engine, [authority_of(site)], chosen, utc_now()).serials
    publish_now(site)


def publish_now(site: Site) -> None:
    async def tell() -> None:
        async with Redis.from_url(site.status["redis"]) as redis:
            await publish(redis, transact(site.engine, read_revocations))

    asyncio.run(tell())
