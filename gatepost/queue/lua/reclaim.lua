#!lua flags=allow-oom
-- reclaim: what has outlived its lease waits to be reserved alone.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many at most
-- Returns  how many there were
-- Keeps    the order in which they were reserved, over several calls as well: each joins at the
--          tail, behind those that have not had their second try yet. The attempt counts; the old
--          tag settles nothing any more.
--@use clock record places lines

local now = '(' .. string.format('%.0f', now_us())
local ids = redis.call('ZRANGE', LEASED, '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[1])
for _, id in ipairs(ids) do
  local record = read_record(id)
  if record then
    record = changed(record, NO_TAG, ALONE, 0, 0)
    redis.call('HSET', META, id, record)
    if may_go(record, id) then wait_at_tail(record, id) end
  end
end
if #ids > 0 then
  redis.call('ZREM', LEASED, unpack(ids))
  ring()
end
return #ids
