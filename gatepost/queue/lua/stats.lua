#!lua flags=no-writes
-- stats: how many are where, and how old the foremost is.
--
-- KEYS     the partition's (keys.py)
-- ARGV     none
-- Returns  known, leased, delayed, dead, exposed, age in ms of the oldest at the head of a ready
--          list (0 if there is none, or it is a ghost), then how many are ready: those that go
--          alone, and those of priority 1 to 10. What is known but in no other place is in line.
-- Keeps    constant cost, whatever the depth; ghosts aren't counted.
--@use clock record places

local now = math.floor(now_us() / 1000)
local oldest = now
local ready = {}

for number = 0, 10 do
  local list, class = KEYS[READY + number], string.char(number)
  local ghosts = tonumber(redis.call('HGET', GHOSTS, class) or 0)
  ready[number + 1] = redis.call('LLEN', list) - ghosts
  local head = redis.call('LINDEX', list, -1)
  local record = head and redis.call('HEXISTS', GHOSTS, class .. head) == 0 and read_record(head)
  if record then oldest = math.min(oldest, enqueued_of(record)) end
end

return {
  redis.call('HLEN', PAYLOAD), redis.call('ZCARD', LEASED), redis.call('ZCARD', DELAYED),
  redis.call('ZCARD', DEAD), redis.call('SCARD', EXPOSED), now - oldest, unpack(ready)
}
