"""The running stack, and holders of certificates that it knows."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity, Role
from tests.acceptance.site import Site, eventually
from tests.factories import Pair, identity

Make = Callable[[Role], Pair]


@pytest.fixture
def known(site: Site) -> Make:
    """Makes a certificate of that role that every process knows by now."""

    def make(role: Role) -> Pair:
        name = f"{role}-{uuid4().hex[:8]}"
        if role is Role.CLIENT:
            return site.issue(identity(name=name))
        pair = site.issue(Identity(INFRASTRUCTURE_DOMAIN, role, name))

        def is_known() -> bool:
            with site.calling(pair.files, "main_server") as caller:
                return "unknown" not in caller.get("/internal/queues").text

        eventually(is_known, "the main server knows it")
        return pair

    return make
