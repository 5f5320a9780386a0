"""The proxy as a service: what is started, and which of its settings concern that."""

from gatepost.service.entry import Service
from proxy.process import main
from proxy.settings import ProxySettings

service = Service(
    name="proxy",
    settings=ProxySettings,
    processes=lambda settings: settings.server.workers,
    ports=lambda settings: [settings.server],
    ops=lambda settings: settings.ops,
    files=lambda settings: [
        settings.tls.check,
        settings.main_server.check,
        settings.tracing.check,
    ],
    child=main,
    drains=True,
)
