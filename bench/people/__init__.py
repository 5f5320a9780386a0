"""The bench of the portal: a ledger of thirty days, and people who look at it."""
