#!lua flags=allow-oom
-- expire: what has outlived its time is taken under a lease, to be reported and dead-lettered.
--
-- Exit is ledger first: were it dropped here, a message that only Redis has would end without a
-- trace.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many at most, lease in µs, tag (8 bytes, never used before)
-- Returns  as reserve: now in ms; 1 if it's worth calling again, else 0; then for each message:
--          id, its record, its payload with the record in front of it
-- Keeps    no attempt is counted. What is leased already is left to its holder and looked at again
--          when that lease ends. The second of a line may be taken before the first: it is not
--          delivered.
--@use clock record places lines expiry

local limit, lease, tag = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local OVERDUE = 250000 -- a lease that is over waits so long for reclaim
local now = now_us()
local now_ms = math.floor(now / 1000)
local reply = {now_ms, 0}

-- The ids whose time may have come: from the end of the list, then those out of order.
local function candidates()
  local ids = {}
  for place = -1, -limit, -1 do
    local entry = redis.call('LINDEX', EXPIRY, place)
    local expires, id
    if entry then expires, id = struct.unpack(ENTRY, entry) end
    if not entry or expires > now_ms then break end
    ids[#ids + 1] = id
  end
  if #ids > 0 then redis.call('LTRIM', EXPIRY, 0, -1 - #ids) end
  local odd = redis.call('ZRANGE', EXPIRY_ODD, '-inf', now_ms, 'BYSCORE', 'LIMIT', 0, limit - #ids)
  for _, id in ipairs(odd) do ids[#ids + 1] = id end
  return ids
end

local function lease_out(id, record, ends)
  leave_place(record, id)
  record = changed(record, tag, 0, COUNTED, 0)
  redis.call('HSET', META, id, record)
  redis.call('ZADD', LEASED, ends, id)
  reply[#reply + 1] = id
  reply[#reply + 1] = record
  reply[#reply + 1] = redis.call('HGET', PAYLOAD, id)
end

local ids, next_end = candidates(), now + lease
for _, id in ipairs(ids) do
  local record = read_record(id)
  local expires = record and expires_of(record) or 0
  if expires > 0 and expires <= now_ms then
    local ends = tonumber(redis.call('ZSCORE', LEASED, id) or 0)
    if ends == 0 then
      ends, next_end = next_end, next_end + 1
      lease_out(id, record, ends)
    end
    local again = math.max(ends, now + OVERDUE)
    redis.call('ZADD', EXPIRY_ODD, math.floor(again / 1000) + 1, id)
  elseif expires > 0 then
    redis.call('ZADD', EXPIRY_ODD, 'XX', expires, id) -- came again meanwhile, to live longer
  else
    redis.call('ZREM', EXPIRY_ODD, id)
  end
end
if #ids == limit then reply[2] = 1 end
sweep_ghosts(1000)
return reply
