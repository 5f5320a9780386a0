"""The entry point of `python -m main_server --config FILE`."""

from gatepost.service.entry import run
from main_server.service import service

run(service)
