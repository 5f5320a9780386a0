"""The main file, whose processes are killed in the middle of the transaction that publishes."""

import os
import signal
import sys
from typing import NoReturn
from unittest.mock import patch

from analytics import main
from analytics.ledger import repository


def end(*_: object) -> NoReturn:
    """The JVM first, which is our parent."""
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


patch.object(repository, "put_manifest", end).start()
sys.exit(main.main(sys.argv[1:]))
