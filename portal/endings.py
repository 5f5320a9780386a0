"""The banner of administrators' pages: who has a last certificate that is over soon, or is over.

The certificates that this portal itself shows are looked at in its own files: one that was renewed
and not taken up is over all the same. The banner never stands in the way of a page.
"""

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.hashes import SHA256

from gatepost.clock import iso, to_ms
from gatepost.errors import GatepostError
from gatepost.service.access_tokens import Claims
from gatepost.trust.certificates import Unreadable, read_certificates
from gatepost.trust.expiry import stage_of
from gatepost.wire.holders import Ending, Endings
from gatepost.wire.people import UserRole

if TYPE_CHECKING:
    from portal.context import Context

OURS = "this portal"


async def endings_for(context: "Context", token: str, claims: Claims) -> tuple[Ending, ...]:
    """Return the endings, the next first; none for somebody who administers nothing."""
    if claims.role is UserRole.USER:
        return ()
    found: list[Ending] = []
    with suppress(GatepostError):  # the page asks, too, and says what is wrong
        found = (await context.main_server.get("/endings", token, Endings)).certificates
    if claims.role is UserRole.SUPER_ADMIN:
        known = {one.fingerprint for one in found}
        found += [one for one in _own(context) if one.fingerprint not in known]
    return tuple(sorted(found, key=lambda one: one.not_after))


def _own(context: "Context") -> list[Ending]:
    found, now = [], datetime.now(UTC)
    for file in context.own_certificates:
        with suppress(OSError, Unreadable):  # half written: the next page sees it
            leaf, *_ = read_certificates(file.read_bytes())
            if (days := stage_of(leaf.not_valid_after_utc, now)) is not None:
                until = iso(to_ms(leaf.not_valid_after_utc))
                digest = leaf.fingerprint(SHA256()).hex()
                found.append(Ending("", digest, f"{OURS}, {file.name}", None, until, days))
    return found
