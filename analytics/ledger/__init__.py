"""The ledger as the pipeline sees it: it counts messages, and writes manifest, runs and reports."""
