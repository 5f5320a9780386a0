"""The portal's calls about people, for administrators: who there is, and their accounts.

An administrator has to do with their own domain alone (I12): everybody else is answered as somebody
who isn't there. Nobody shuts themselves out: one's own account another must disable.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from uuid import UUID

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection, Engine

from gatepost.clock import iso, to_ms
from gatepost.errors import Invalid, NotFound
from gatepost.service.requests import context_of
from gatepost.wire.people import Account, Accounts, NewPerson, PasswordLink, UserRole
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer, cross, now_of
from main_server.api.viewers import viewer_of
from main_server.audit.names import client_ids_of, parse_name
from main_server.messages.reading.asking import asked_by
from main_server.messages.reading.scope import domain_within
from main_server.people import authenticator_repository as authenticators
from main_server.people.users import links, repository, service
from main_server.people.users.repository import User
from main_server.people.users.service import NewUser
from main_server.people.users.viewer import Viewer
from main_server.store.database import transact

MOST = 100
"""The most accounts on a page."""
_NOT_ONESELF = {
    "disable": "You can't disable your own account. Ask another administrator.",
    # with a link, a stolen session would be the account for good
    "link": "Change your own password on your page Account, or ask another administrator.",
    "reset-second-step": "With a code, your page Account does it. Without one, ask another"
    " administrator.",
}
_ACTS: dict[str, Callable[[Engine, User, datetime, str], None]] = {
    "disable": service.disable,
    "enable": service.enable,
    "sign-out": service.sign_out,
    "reset-second-step": service.reset_second_step,
}


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal/users")
    viewer = viewer_of(context, UserRole.ADMIN, UserRole.SUPER_ADMIN)

    @router.get("")
    async def list_some(
        domain: str | None = None,
        name: str = "",
        after: str = "",
        limit: int = MOST,
        asker: Viewer = viewer,
    ) -> Response:
        """List accounts; `name` is a part of their name, `after` where the page before has
        ended."""
        asked, behind = asked_by(asker, domain, None), parse_name(after) if after else None
        await cross(
            context, asker, "users.listed", asked, {"page": "following" if after else "first"}
        )
        foreign = asker.role is not UserRole.SUPER_ADMIN and domain not in (None, asker.domain)
        part = name.strip().lower()
        if foreign or not part.isascii():
            return answer(Accounts([]))
        most = max(1, min(limit, MOST))
        read = partial(
            _list, domain=domain_within(asker, asked), holding=part, after=behind, limit=most
        )
        return answer(await context.ledger.run(transact, read))

    @router.post("", status_code=201)
    async def create(request: Request, asker: Viewer = viewer) -> Response:
        asker.check_proved()
        wanted = _wanted(asker, await read(request, NewPerson))
        made = await context.ledger.run(service.create, wanted, now_of(context), asker.actor)
        context_of(request.scope).event = "user.created"
        return await _link(context, asker, made)

    @router.post("/{user_id}/link", status_code=201)
    async def make_link(user_id: UUID, asker: Viewer = viewer) -> Response:
        asker.check_proved()
        _check_not_oneself(asker, user_id, "link")
        return await _link(context, asker, await find(context, asker, user_id))

    @router.post("/{user_id}/{act}", status_code=204)
    async def change(user_id: UUID, act: str, asker: Viewer = viewer) -> Response:
        if act not in _ACTS:
            raise NotFound()
        if act != "sign-out":  # it takes nothing that a password wouldn't give back
            asker.check_proved()
        found = await find(context, asker, user_id)
        _check_not_oneself(asker, user_id, act)
        await context.ledger.run(_ACTS[act], found, now_of(context), asker.actor)
        return Response(status_code=204)

    return router


def _check_not_oneself(asker: Viewer, user_id: UUID, act: str) -> None:
    if act in _NOT_ONESELF and str(user_id) == asker.user_id:
        raise Invalid(_NOT_ONESELF[act])


def _wanted(asker: Viewer, wanted: NewPerson) -> NewUser:
    """Return the person to be added, within the asker's domain; a super-administrator says in which
    one."""
    text = wanted.name if "@" in wanted.name else f"{wanted.name}@{asker.domain}"
    domain, name = parse_name(text)
    if asker.role is not UserRole.SUPER_ADMIN and domain != asker.domain:
        raise NotFound("There is no such domain.")
    return NewUser(domain, name, wanted.role, client_ids_of(domain, wanted.client_ids))


async def find(context: Context, asker: Viewer, user_id: UUID) -> User:
    """Return somebody whom the asker administers; raise NotFound for everybody else."""
    found = await context.ledger.run(transact, lambda c: repository.get(c, user_id.bytes))
    own = None if asker.role is UserRole.SUPER_ADMIN else asker.domain
    if found is None or own not in (None, found.domain):
        raise NotFound("There is nobody of this name.")
    return found


async def _link(context: Context, asker: Viewer, user: User) -> Response:
    now = now_of(context)
    made_by = UUID(asker.user_id).bytes
    token = await context.ledger.run(
        links.make_link, user, now, asker.actor, links.LIFETIME, made_by
    )
    account = await context.ledger.run(transact, lambda c: account_of(c, user))
    expires_at = iso(to_ms(now + links.LIFETIME))
    return answer(PasswordLink(account, token, expires_at), 201)


def _list(
    connection: Connection,
    domain: str | None,
    holding: str,
    after: tuple[str, str] | None,
    limit: int,
) -> Accounts:
    """List a page of accounts by three queries, however many there are."""
    found = repository.list_users(connection, domain, holding, after, limit + 1)
    page, more = found[:limit], found[limit:]
    ids = [one.user_id for one in page]
    clients = repository.list_clients_of_all(connection, ids)
    sure = authenticators.list_confirmed(connection, ids)
    accounts = [
        _account(one, clients.get(one.user_id, []), second_step=one.user_id in sure) for one in page
    ]
    return Accounts(accounts, f"{page[-1].name}@{page[-1].domain}" if more else None)


def account_of(connection: Connection, user: User) -> Account:
    client_ids = sorted(repository.list_client_ids(connection, user.user_id))
    on = authenticators.confirmed_at(connection, user.user_id) is not None
    return _account(user, client_ids, second_step=on)


def _account(user: User, client_ids: list[str], *, second_step: bool) -> Account:
    times = (user.created_at, user.disabled_at, user.last_login_at)
    created, disabled, last = (iso(to_ms(time)) if time else None for time in times)
    assert created is not None
    return Account(
        str(UUID(bytes=user.user_id)),
        user.name,
        user.domain,
        user.role,
        client_ids,
        created,
        disabled,
        last,
        second_step,
    )
