"""People as administrators see them: pages of many, and nobody of another domain."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import insert

from gatepost.clock import from_ms
from gatepost.errors import NotFound
from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from main_server.api.portal import people as administering
from main_server.people.users import service
from main_server.people.users.service import NewUser, Rights
from main_server.store.database import transact
from main_server.store.tables import user_clients, users
from main_server.tenants.clients.service import ensure
from tests.integration.main_server.new_people import TESTER, People
from tests.integration.main_server.office import Office

MANY = 1500


@pytest.fixture
def admin(people: People) -> People:
    """Of a domain that no other test knows."""
    there = People(people.engine, domain=f"d-{uuid4().hex[:10]}.example")
    until = (there.now + timedelta(days=1)).replace(tzinfo=None)
    there.with_password(role=UserRole.ADMIN, break_glass_until=until)
    return there


def add_many(people: People, count: int) -> list[str]:
    names = [f"m-{number:04}" for number in range(count)]
    made = [(uuid4().bytes, name) for name in names]
    rows: list[dict[str, Any]] = [
        {
            "user_id": user_id,
            "domain": people.domain,
            "name": name,
            "role": "user",
            "generation": 0,
            "created_at": from_ms(0),
        }
        for user_id, name in made
    ]
    clients = [{"user_id": one, "client_id": f"{people.domain}:a"} for one, _ in made]

    def work(connection: Any) -> None:
        connection.execute(insert(users), rows)
        connection.execute(insert(user_clients), clients)

    transact(people.engine, work)
    return names


async def pages(office: Office, token: str, **query: str) -> list[list[dict[str, Any]]]:
    found, after = [], ""
    while True:
        asked = "&".join(f"{name}={value}" for name, value in (query | {"after": after}).items())
        said = (await office.ask(token, "GET", f"/users?{asked}")).json()
        found.append(said["accounts"])
        after = said["next"]
        if not after:
            return found


async def test_many_come_in_pages_each_once_and_in_order(office: Office, admin: People) -> None:
    names = add_many(admin, MANY)
    token = await office.token(admin)
    found = await pages(office, token)
    assert [len(page) for page in found[:-1]] == [administering.MOST] * (len(found) - 1)
    listed = [one["name"] for page in found for one in page]
    assert listed == sorted([*names, admin.name])
    assert all(one["client_ids"] for page in found for one in page if one["name"] in names)


async def test_they_are_found_by_a_part_of_their_name(office: Office, admin: People) -> None:
    add_many(admin, 30)
    token = await office.token(admin)
    [page] = await pages(office, token, name="M-002", limit="10")
    assert [one["name"] for one in page] == [f"m-{number:04}" for number in range(20, 30)]
    for nobodys in ("%25", "m_00", "%C3%A9", "nobody"):
        assert await pages(office, token, name=nobodys) == [[]], nobodys


async def test_of_all_domains_they_come_domain_by_domain(office: Office, people: People) -> None:
    root = People(people.engine, domain="gatepost")
    until = (root.now + timedelta(days=1)).replace(tzinfo=None)
    root.with_password(role=UserRole.SUPER_ADMIN, break_glass_until=until)
    mark = uuid4().hex[:8]
    there = [
        People(people.engine, name=f"x-{mark}-{number}", domain=f"{where}-{mark}.example")
        for where in "ab"
        for number in range(3)
    ]
    for one in there:
        one.create()
    found = await pages(office, await office.token(root), name=mark, limit="2")
    assert [len(page) for page in found] == [2, 2, 2]
    listed = [(one["domain"], one["name"]) for page in found for one in page]
    assert listed == [(one.domain, one.name) for one in there]


async def test_a_client_of_another_domain_is_given_to_nobody(people: People) -> None:
    """The wall has this leaf, too: what they may see is looked at again for each message."""
    other = People(people.engine, domain=f"o-{uuid4().hex[:10]}.example")
    theirs = f"{other.domain}:c-{uuid4().hex[:8]}"
    identity = Identity(other.domain, Role.CLIENT, theirs.partition(":")[2])
    ensure(people.engine, identity, people.now)
    wanted = NewUser(people.domain, people.name, UserRole.USER, frozenset({theirs}))
    with pytest.raises(NotFound):
        service.create(people.engine, wanted, people.now, TESTER)
    user = people.create()
    rights = Rights(client_ids=frozenset({theirs}))
    with pytest.raises(NotFound):
        service.change_rights(people.engine, user, rights, people.now, TESTER)
    own = NewUser(other.domain, other.name, UserRole.USER, frozenset({theirs}))
    assert service.create(other.engine, own, other.now, TESTER)
