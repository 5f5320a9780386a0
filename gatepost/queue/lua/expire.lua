#!lua flags=allow-oom
-- expire: what has outlived its time is taken under a lease, to be reported and dead-lettered.
--
-- Exit is ledger first: were it dropped here, a message that only Redis has would end without a trace.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many at most, lease in µs, tag (8 bytes, never used before)
-- Returns  as reserve: now in ms; 1 if it's worth calling again, else 0; then for each message: id, its
--          record, its payload with the record in front of it
-- Keeps    no attempt is counted. What is leased already is left to its holder and looked at again when
--          that lease ends. The second of a line may be taken before the first: it is not delivered.
--@use clock record places lines

local limit, lease, tag = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local now = now_us()
local reply = {math.floor(now / 1000), 0}
local ids = redis.call('ZRANGE', EXPIRY, '-inf', reply[1], 'BYSCORE', 'LIMIT', 0, limit)

for n, id in ipairs(ids) do
  local ends = redis.call('ZSCORE', LEASED, id)
  if not ends then
    ends = now + lease + n - 1
    local record = read_record(id)
    leave_place(record, id)
    record = changed(record, tag, 0, COUNTED, 0)
    redis.call('HSET', META, id, record)
    redis.call('ZADD', LEASED, ends, id)
    reply[#reply + 1] = id
    reply[#reply + 1] = record
    reply[#reply + 1] = redis.call('HGET', PAYLOAD, id)
  end
  redis.call('ZADD', EXPIRY, math.floor(tonumber(ends) / 1000) + 1, id)
end
if #ids == limit then reply[2] = 1 end
sweep_ghosts(1000)
return reply
