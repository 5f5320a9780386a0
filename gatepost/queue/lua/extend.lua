#!lua flags=allow-oom
-- extend: the leases run on from now.
--
-- KEYS     the partition's (keys.py)
-- ARGV     lease in µs; then for each delivery: id, tag
-- Returns  a character for each: '1' applied, '0' refused
-- Keeps    only the holder extends; the order of the batch is kept for reclaim.
--@use clock record places lines expiry settling

local ids, _, _, answers = held(2, 2)
local ends = now_us() + tonumber(ARGV[1])
for n, id in ipairs(ids) do
  redis.call('ZADD', LEASED, ends + n - 1, id)
end
return answers
