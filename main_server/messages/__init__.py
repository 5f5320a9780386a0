"""Messages: what the edge and the workers tell the ledger of them, and what it answers."""
