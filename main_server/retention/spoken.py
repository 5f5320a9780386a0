"""The days for which messages that somebody looks at are kept, as their lists say it."""

from sqlalchemy import Connection, Engine

from main_server.messages.reading.scope import Asked, domain_within
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact
from main_server.tenants import hold_repository as repository
from main_server.tenants.policy import Policies, domain_of


def days_kept(engine: Engine, viewer: Viewer, asked: Asked) -> dict[str, int]:
    """Return the most and the fewest days for which the messages that they may see are kept."""

    def work(connection: Connection) -> Policies:
        return repository.read_policies(connection)

    days = _days(transact(engine, work), viewer, asked)
    return {"kept_days": max(days), "kept_days_at_least": min(days)}


def _days(policies: Policies, viewer: Viewer, asked: Asked) -> set[int]:
    domain = domain_within(viewer, asked)
    if asked.client_id is not None and domain in (None, domain_of(asked.client_id)):
        return {policies.days_of(asked.client_id)}
    if viewer.role is UserRole.USER and viewer.client_ids:
        return {policies.days_of(one) for one in viewer.client_ids}
    if domain is None:
        return {policies.shortest, policies.longest}
    own = {days for one, days in policies.clients.items() if domain_of(one) == domain}
    return {policies.days_in(domain), *own}
