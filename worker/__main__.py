"""`python -m worker --config FILE`"""

from worker.service import service

from gatepost.service.entry import run

run(service)
