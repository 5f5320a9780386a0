"""The rows of the ledger as keys see them: how one is sealed, and all those of a client's day."""
