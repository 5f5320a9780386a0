#!lua flags=allow-oom
-- publish: what has been revoked, for every process to read; then wakes those who listen.
--
-- KEYS     the state (HASH: number, data)
-- ARGV     number, data, channel, the highest number that can be true now
-- Returns  1 if it is there now, 0 if a state at least as new was there already
-- Keeps    the state never goes back: two who publish at once leave the newer one. What no state
--          can be, another type or a number from the future, is no state, and makes room.

local number, highest = tonumber(ARGV[1]), tonumber(ARGV[4])
if redis.call('TYPE', KEYS[1]).ok == 'hash' then
  local known = redis.call('HGET', KEYS[1], 'number') or ''
  if string.match(known, '^%d+$') then
    known = tonumber(known)
    if known >= number and known <= highest then return 0 end
  end
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'number', ARGV[1], 'data', ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return 1
