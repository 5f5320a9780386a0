#!lua flags=allow-oom
-- dead_letter: given up; the messages are forgotten but for id, time and reason.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many to remember at most; then for each delivery: id, tag, reason (1 to 15)
-- Returns  a character for each: '1' applied, '0' refused
-- Keeps    only the holder settles, once; no payload stays; the index is bounded, oldest out
--          first.
--@use clock record places lines expiry settling

local ids, records, positions, answers = held(2, 3)
forget(ids, records)
if #ids > 0 then
  local now, dead = math.floor(now_us() / 1000), {}
  for n, id in ipairs(ids) do
    dead[2 * n - 1], dead[2 * n] = now * 16 + tonumber(ARGV[positions[n] + 2]), id
  end
  redis.call('ZADD', DEAD, unpack(dead))
  redis.call('ZREMRANGEBYRANK', DEAD, 0, -1 - tonumber(ARGV[1]))
end
return answers
