"""Certificates that are about to expire, as the ledger keeps them."""
