"""The ledger's schema, by Alembic. Applied by `gatepost db upgrade`."""
