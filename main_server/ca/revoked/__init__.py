"""The revoked certificates, as the ledger keeps them."""
