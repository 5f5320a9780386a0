"""`python -m main_server --config FILE`"""

from functools import partial

from gatepost.service.entry import run
from main_server.ca.authority import load_authority
from main_server.keys.key_file import read_master_keys
from main_server.process import main
from main_server.settings import MainServerSettings

run(
    "main_server",
    MainServerSettings,
    processes=lambda settings: settings.server.workers,
    ports=lambda settings: [settings.server, settings.pki],
    ops=lambda settings: settings.ops,
    files=lambda settings: [
        settings.tls.check,
        partial(read_master_keys, settings.keys.master_key_file),
        partial(load_authority, settings.ca.folder),
    ],
    child=main,
)
