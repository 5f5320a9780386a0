"""What Prometheus is told of what all share: the queues, Redis, the ledger, the audit log."""
