"""Backups of the ledger, the CA and the configuration: made without stopping, sealed, tried."""
