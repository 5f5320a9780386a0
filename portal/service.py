"""The portal as a service: what is started, and which of its settings concern that."""

from gatepost.service.entry import Service
from portal.process import main
from portal.settings import PortalSettings

service = Service(
    name="portal",
    settings=PortalSettings,
    processes=lambda settings: settings.server.workers,
    ports=lambda settings: [settings.server],
    ops=lambda settings: settings.ops,
    files=lambda settings: [settings.check_shown, settings.main_server.check],
    child=main,
)
