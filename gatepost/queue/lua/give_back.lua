#!lua flags=allow-oom
-- give_back: not tried after all; the messages go back to the head, first of the batch first.
--
-- KEYS     the partition's (keys.py)
-- ARGV     for each delivery: id, tag
-- Returns  a character for each: '1' applied, '0' refused
-- Keeps    only the holder settles, once. It is as if they hadn't been reserved: no attempt is
--          counted.
--@use clock record places lines expiry settling

local ids, records, _, answers = held(1, 2)
for n = #ids, 1, -1 do
  local id, record = ids[n], records[n]
  local uncount = has(record, COUNTED) and -1 or 0
  redis.call('HSET', META, id, changed(record, NO_TAG, 0, COUNTED, uncount))
  redis.call('ZREM', LEASED, id)
  put_back(record, id)
end
ring()
return answers
