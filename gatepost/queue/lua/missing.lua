#!lua flags=no-writes
-- missing: which of these messages are not waiting here, in whatever place.
--
-- KEYS     the partition's (keys.py)
-- ARGV     ids
-- Returns  a character for each: '1' missing, '0' here. A dead one is missing: it has no payload.

local answers = {}
for n, id in ipairs(ARGV) do
  answers[n] = redis.call('HEXISTS', PAYLOAD, id) == 1 and '0' or '1'
end
return table.concat(answers)
