"""`python -m portal --config FILE`"""

from gatepost.service.entry import run
from portal.service import service

run(service)
