"""Who may look at the overview, and what the audit log has of it."""

from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import Depends
from sqlalchemy import Engine, text

from gatepost.service.api import create_api
from gatepost.wire.people import UserRole
from main_server.api.portal import overview as endpoints
from main_server.api.portal.overview import NOTED_FOR
from main_server.people.users.viewer import Viewer
from main_server.store.database import Ledger, transact
from tests.integration.main_server.office import Stopped
from tests.unit.main_server.health.overview.test_viewing import SNAPSHOT


class Place:
    """Its overview, for somebody; what proves who it is, is tested where sessions are."""

    def __init__(self, engine: Engine, viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine, self.viewer, self.clock = engine, viewer, Stopped()
        self.roles: tuple[UserRole, ...] = ()
        monkeypatch.setattr(endpoints, "viewer_of", self._viewer_of)
        overview = SimpleNamespace(snapshot=lambda: SNAPSHOT)
        context: Any = SimpleNamespace(
            ledger=Ledger(engine, 1), clock=self.clock, overview=overview
        )
        self._app = create_api("test")
        self._app.include_router(endpoints.create_router(context))

    def _viewer_of(self, _context: object, *roles: UserRole) -> Any:
        self.roles = roles
        return Depends(lambda: self.viewer)

    async def look(self) -> int:
        """How often it is noted then."""
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="https://main.example") as http:
            assert (await http.get("/api/portal/overview")).status_code == 200
        query = text("SELECT COUNT(*) FROM audit_log WHERE actor = :a AND action = 'overview.seen'")
        about = {"a": self.viewer.actor}
        return int(transact(self.engine, lambda c: c.execute(query, about).scalar_one()))


def somebody(role: UserRole) -> Viewer:
    return Viewer(str(uuid4()), f"p-{uuid4().hex[:10]}", role, "gatepost")


async def test_that_a_super_administrator_looks_is_noted_once_an_hour(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(engine, somebody(UserRole.SUPER_ADMIN), monkeypatch)
    assert [await place.look() for _ in range(3)] == [1, 1, 1]
    place.clock.go_on(int(NOTED_FOR.total_seconds() * 1000))
    assert await place.look() == 2


async def test_it_is_for_administrators_and_their_own_domain_is_no_crossing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(engine, somebody(UserRole.ADMIN), monkeypatch)
    assert place.roles == (UserRole.ADMIN, UserRole.SUPER_ADMIN)
    assert await place.look() == 0
