"""`python -m portal --config FILE`"""

from gatepost.service.entry import run
from portal.process import main
from portal.settings import PortalSettings

run(
    "portal",
    PortalSettings,
    processes=lambda settings: settings.server.workers,
    ports=lambda settings: [settings.server],
    ops=lambda settings: settings.ops,
    files=lambda settings: [settings.check_shown, settings.main_server.check],
    child=main,
)
