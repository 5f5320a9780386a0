#!lua flags=allow-oom
-- publish: what has been revoked, for every process to read; then wakes those who listen.
--
-- KEYS     the state (HASH: number, data)
-- ARGV     number, data, channel
-- Returns  1 if it is there now, 0 if a state at least as new was there already
-- Keeps    the state never goes back: two who publish at once leave the newer one

local known = redis.call('HGET', KEYS[1], 'number')
if known and tonumber(known) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'number', ARGV[1], 'data', ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return 1
