"""The metrics of what all processes share: the queues, Redis, the ledger, the audit log."""
