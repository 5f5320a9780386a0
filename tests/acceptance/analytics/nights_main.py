"""The main file, once for each of NIGHTS: so many days from today, at two in the morning, by this
machine's clock and by the ledger's."""

import os
import sys
from datetime import timedelta
from unittest.mock import patch

from analytics import job, main, nightly
from analytics.ledger import repository


def play(ahead: int) -> int:
    now = nightly.utc_now().replace(hour=2, minute=0, second=0, microsecond=0)
    night = now + timedelta(days=ahead)
    with (
        patch.object(job, "utc_now", lambda: night),
        patch.object(repository, "read_now", lambda _: night),
    ):
        return main.main(sys.argv[1:])


sys.exit(max(play(int(ahead)) for ahead in os.environ["NIGHTS"].split()))
