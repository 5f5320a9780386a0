"""Everything is broken on purpose, and a checker that knows nothing of us says what was lost.

history (what clients did and heard) + faults.jsonl (what was done to the site) + dump (what is left
at the end) → checker → verdict.json → report. The checker reads files and imports nothing of ours.
"""
