#!lua flags=allow-oom
-- retry_later: the messages wait until they are due; the attempt counts.
--
-- KEYS     the partition's (keys.py)
-- ARGV     for each delivery: id, tag, delay in ms
-- Returns  a character for each: '1' applied, '0' refused
-- Keeps    only the holder settles, once. An ordered message goes on holding up its key.
--@use clock record places lines expiry settling

local ids, records, positions, answers = held(1, 3)
local now = math.floor(now_us() / 1000)
for n, id in ipairs(ids) do
  local due = now + tonumber(ARGV[positions[n] + 2])
  local record = changed(records[n], NO_TAG, 0, ALONE + COUNTED, 0)
  if is_ordered(record) then record = with_due(record, due) end
  redis.call('HSET', META, id, record)
  redis.call('ZREM', LEASED, id)
  if may_go(record, id) then redis.call('ZADD', DELAYED, due, id) end
end
return answers
