"""`python -m proxy --config FILE`"""

from proxy.service import service

from gatepost.service.entry import run

run(service)
