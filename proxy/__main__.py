"""`python -m proxy --config FILE`"""

from gatepost.service.entry import run
from proxy.process import main
from proxy.settings import ProxySettings

run(
    "proxy",
    ProxySettings,
    processes=lambda settings: settings.server.workers,
    ports=lambda settings: [settings.server],
    ops=lambda settings: settings.ops,
    files=lambda settings: [settings.tls.check, settings.main_server.check],
    child=main,
)
