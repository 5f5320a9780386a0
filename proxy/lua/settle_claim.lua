#!lua flags=allow-oom
-- settle_claim: the message under an Idempotency-Key is committed; repeats are answered with it.
--
-- KEYS     the claim (HASH: id, payload, done, until)
-- ARGV     id (16 bytes), MAC of the payload, how durable it is, seconds a claim lives
-- Returns  nothing
-- Keeps    the ledger's word goes: its id replaces the one that Redis had

redis.call('HSET', KEYS[1], 'id', ARGV[1], 'payload', ARGV[2], 'done', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
