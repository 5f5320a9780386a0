"""The portal's routes, as its application declares them."""

from portal.app import create_api
from portal.assets import Assets
from portal.context import Context
from portal.keys import Keys
from portal.rendering import Pages
from tests.acceptance.test_roles import routes_of

_assets = Assets()
CONTEXT = Context(None, Keys(), Pages(_assets), _assets, "gatepost")  # type: ignore[arg-type]
PORTAL_ROUTES = list(routes_of(create_api(CONTEXT)))
