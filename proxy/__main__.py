"""`python -m proxy --config FILE`"""

from gatepost.service.entry import run
from proxy.service import service

run(service)
