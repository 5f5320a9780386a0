"""`python -m worker --config FILE`"""

from gatepost.service.entry import run
from worker.process import main
from worker.settings import WorkerSettings

run(
    "worker",
    WorkerSettings,
    processes=lambda settings: settings.worker.concurrency,
    ports=lambda _settings: [],
    ops=lambda settings: settings.ops,
    files=lambda settings: [settings.main_server.check],
    child=main,
)
