"""The checker: reads what clients said, what was done to the site and what is left, and judges.

It imports nothing but Python's own library and itself (a test sees to it): no code of Gatepost, and
none of the harness, can lead it astray. Files in, verdict out; it never talks to anything.

    history/*.jsonl    per client: invoke | ok | fail | info
    faults.jsonl       what the harness broke, when, and where it destroyed Redis's data
    ledger.jsonl       a line for each row of `messages`
    transitions.jsonl  every state that every row took, written by a trigger of the harness's own
    attempts.jsonl     a line for each row of `attempts`
    idempotency.jsonl  a line for each row of `idempotency`
    redis.json         what is left in each queue
    shown.jsonl        digests of what a person is shown of delivered messages, all or a sample
    run.json           optional: seed, commit, machine, the lease

How a doubled effect would be seen: a delivery's one effect is that its row becomes `delivered`. The
trigger writes down each change of a row as it commits, so that a second delivery shows as an arrow
out of `delivered`, and a second row for the same text shows as two rows with one marker.
"""
