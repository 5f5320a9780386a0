"""A replica of the ledger, for what people are shown."""
