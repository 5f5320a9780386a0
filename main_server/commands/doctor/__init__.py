"""The main server's part of `gatepost doctor`: ledger, Redis, queue, keys, CA, nights."""
