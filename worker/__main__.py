"""`python -m worker --config FILE`"""

from gatepost.service.entry import run
from worker.service import service

run(service)
