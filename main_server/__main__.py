"""`python -m main_server --config FILE`"""

from main_server.service import service

from gatepost.service.entry import run

run(service)
