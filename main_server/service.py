"""The main server as a service: what is started, and what of its settings concerns that."""

from functools import partial

from gatepost.service.entry import Service
from main_server.ca.authority import load_authority
from main_server.keys.master import read_master_keys
from main_server.process import main
from main_server.settings import MainServerSettings

service = Service(
    name="main_server",
    settings=MainServerSettings,
    processes=lambda settings: settings.server.workers,
    ports=lambda settings: [settings.server, settings.pki],
    ops=lambda settings: settings.ops,
    files=lambda settings: [
        settings.tls.check,
        settings.tracing.check,
        partial(read_master_keys, settings.keys.master_key_file),
        partial(load_authority, settings.ca.folder),
    ],
    child=main,
)
