#!lua flags=allow-oom
-- release_due: what is due joins its ready list at the tail.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many at most
-- Returns  how many there were
-- Keeps    in the order they are due. Rings if anything is ready: a lost signal is made good here.
--@use clock record places

local now = math.floor(now_us() / 1000)
local ids = redis.call('ZRANGE', DELAYED, '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[1])
for _, id in ipairs(ids) do
  local record = read_record(id)
  if record then wait_at_tail(record, id) end
end
if #ids > 0 then redis.call('ZREM', DELAYED, unpack(ids)) end
ring()
return #ids
