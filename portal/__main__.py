"""`python -m portal --config FILE`"""

from portal.service import service

from gatepost.service.entry import run

run(service)
