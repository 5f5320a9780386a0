"""The lake's own retention, and what the ledger's retention demands of the pipeline."""
