"""Legal holds and days: what is set, by whom, and why."""
