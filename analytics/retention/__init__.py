"""The lake's own retention, and what the ledger's demands of the pipeline."""
