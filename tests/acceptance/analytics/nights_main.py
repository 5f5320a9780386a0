"""The main file, twice, as if it were the night after today."""

import sys
from datetime import datetime, timedelta
from unittest.mock import patch

from analytics import job, main, nightly


def tomorrow() -> datetime:
    now = nightly.utc_now()
    return now.replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)


patch.object(job, "utc_now", tomorrow).start()
sys.exit(main.main(sys.argv[1:]) or main.main(sys.argv[1:]))
