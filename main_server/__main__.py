"""`python -m main_server --config FILE`"""

from gatepost.service.entry import run
from main_server.process import main
from main_server.settings import MainServerSettings

run(
    "main_server",
    MainServerSettings,
    processes=lambda settings: settings.server.workers,
    ports=lambda settings: [settings.server, settings.pki],
    ops=lambda settings: settings.ops,
    child=main,
)
