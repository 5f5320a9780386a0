#!lua flags=allow-oom
-- reclaim: what has outlived its lease waits to be reserved alone.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many at most
-- Returns  how many there were
-- Keeps    the order in which they were reserved: the latest is put back first, so the earliest
--          ends up foremost, over several calls as well. The attempt counts; the old tag settles
--          nothing any more.
--@use clock record places lines

local over = '(' .. string.format('%.0f', now_us())
local ids = redis.call('ZRANGE', LEASED, over, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, ARGV[1])
for _, id in ipairs(ids) do
  local record = read_record(id)
  if record then
    record = changed(record, NO_TAG, ALONE, 0, 0)
    redis.call('HSET', META, id, record)
    put_back(record, id)
  end
end
if #ids > 0 then
  redis.call('ZREM', LEASED, unpack(ids))
  ring()
end
return #ids
