"""Reconciling: making queue and ledger agree, in both directions, all the time (I1, I5)."""
