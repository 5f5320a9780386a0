"""The ledger's rows and partitions as retention sees them."""
