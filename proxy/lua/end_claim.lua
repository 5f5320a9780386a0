#!lua flags=allow-oom
-- end_claim: a post under an Idempotency-Key is over, and its message isn't known to be committed.
--
-- KEYS     the claim (HASH: id, payload, done, until)
-- ARGV     id (16 bytes), 'drop' (nothing was kept: the next post is the first again) or 'release'
--          (that can't be known: a repeat may go on at once, with the same id)
-- Returns  nothing
-- Keeps    a claim that is another's, or done, stays as it is

local id, done = unpack(redis.call('HMGET', KEYS[1], 'id', 'done'))
if id ~= ARGV[1] or done then return end
if ARGV[2] == 'drop' then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 'until', 0)
end
