"""The person for whom a request of the portal is answered: its token says who asks, the ledger what
they may do.

The ledger is asked for each request, so that whoever is disabled, signed out or made less than they
were is so at once, and whoever has given no code, or has no authenticator and must, gets no
further.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import Depends, Request
from sqlalchemy import Connection

from gatepost.clock import from_ms
from gatepost.errors import NotSignedIn, WrongRole
from gatepost.service.access_tokens import Claims, verify
from gatepost.service.api import allow
from gatepost.service.requests import context_of
from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from main_server.api.context import Context, identify
from main_server.people import authenticator_repository as authenticators
from main_server.people.second_step.stage import Stage, is_demanded, refusal_at, stage_of
from main_server.people.sessions import repository
from main_server.people.sessions.portals import serves
from main_server.people.sessions.proof import proof_wanted
from main_server.people.sessions.repository import Session
from main_server.people.sessions.service import is_alive
from main_server.people.users import repository as people
from main_server.people.users.repository import User
from main_server.people.users.viewer import Viewer
from main_server.store.database import transact

_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Seen:
    """Somebody, the session by which they ask, and how far they have come in signing in."""

    viewer: Viewer
    user: User
    session: Session
    stage: Stage
    demanded: bool
    """True if somebody can't do without a second step."""


def viewer_of(context: Context, *roles: UserRole) -> Any:
    """Return a dependency that gives who asks by way of the portal, if their role is one of these
    (or none is named). It demands the portal's certificate, so a route needs nothing beside it."""

    by_session = seen_by(context, *roles)

    async def viewer(seen: Seen = by_session) -> Viewer:
        return seen.viewer

    return _for_the_portal(viewer, roles)


def seen_by(
    context: Context, *roles: UserRole, stages: Collection[Stage] = (Stage.COMPLETE,)
) -> Any:
    """Return a dependency as `viewer_of` does, with the session. Whoever has not signed in whole is
    refused, except where a route names their stage."""
    portal = allow(identify(context), Role.PORTAL)

    async def seen(request: Request, caller: Identity = portal) -> Seen:
        now = _now(context)
        claims = verify(_token(request), context.keyring.token_keys(now), now.replace(tzinfo=UTC))
        demanding = context.second_step_demanded
        find = partial(_find, claims=claims, moment=now, portal=caller, demanding=demanding)
        found = await context.ledger.run(transact, find)
        context_of(request.scope).fields["user"] = found.viewer.user_id
        if found.stage not in stages:
            raise refusal_at(found.stage)
        if roles and found.viewer.role not in roles:
            raise WrongRole("Your role may not do this.")
        return found

    return _for_the_portal(seen, roles)


def _for_the_portal(dependency: Callable[..., Awaitable[Any]], people: tuple[UserRole, ...]) -> Any:
    """Make a dependency by which a route says whose certificate and which people it answers; tests
    read that."""
    dependency.roles = (Role.PORTAL,)  # type: ignore[attr-defined]
    dependency.people = people or tuple(UserRole)  # type: ignore[attr-defined]
    return Depends(dependency)


def _find(
    connection: Connection, claims: Claims, moment: datetime, portal: Identity, *, demanding: bool
) -> Seen:
    found = repository.find(connection, claims.session_id.bytes)
    if found is None or not is_alive(*found, moment):
        raise NotSignedIn("This session is over. Sign in again.")
    session, user = found
    if user.user_id != claims.user_id.bytes or not serves(portal, user.domain):
        raise NotSignedIn()
    client_ids = people.list_client_ids(connection, user.user_id)
    demanded = is_demanded(user.role, user.break_glass_until, moment, demanding=demanding)
    confirmed_at = authenticators.confirmed_at(connection, user.user_id)
    stage = stage_of(confirmed_at, session.second_step_at, demanded=demanded)
    user_id = str(UUID(bytes=user.user_id))
    wanted = proof_wanted(session.proved_at, moment, by_code=confirmed_at is not None)
    viewer = Viewer(user_id, user.name, user.role, user.domain, client_ids, wanted)
    return Seen(viewer, user, session, stage, demanded)


def _token(request: Request) -> str:
    given = request.headers.get("authorization", "")
    if given[: len(_BEARER)].lower() != _BEARER:
        raise NotSignedIn()
    return given[len(_BEARER) :]


def _now(context: Context) -> datetime:
    return from_ms(context.clock.now_ms())
