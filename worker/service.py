"""The workers as a service: what is started, and which of their settings concern that."""

from gatepost.service.entry import Service
from worker.process import main
from worker.settings import WorkerSettings

service = Service(
    name="worker",
    settings=WorkerSettings,
    processes=lambda settings: settings.worker.concurrency,
    ports=lambda _settings: [],
    ops=lambda settings: settings.ops,
    files=lambda settings: [settings.main_server.check, settings.tracing.check],
    child=main,
)
