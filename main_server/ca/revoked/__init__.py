"""What has been revoked, as the ledger keeps it."""
