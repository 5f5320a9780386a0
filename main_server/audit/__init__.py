"""The audit log: who did what to what. Each entry holds the hash of the one before."""
