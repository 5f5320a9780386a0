"""The list of destroyed keys. It is in the ledger and in its backups, where the keys are not."""
