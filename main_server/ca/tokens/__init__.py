"""Tokens to enrol with, as the ledger keeps them: by their hash."""
