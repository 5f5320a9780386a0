-- When messages expire. Most live equally long, so they expire in the order in which they came: a
-- list does, at a fifth of a sorted set's memory. EXPIRY holds time + id, latest on the left.
-- Nobody searches it: an entry whose message was settled lingers until it comes to the end, or
-- until more than half of the list can only be such. What comes out of order, or outlives the
-- list, is in EXPIRY_ODD.
--
-- Each message that expires has an entry no earlier than it does and at most TOLERANCE later.
local TOLERANCE, SPARE = 30000, 1000
local ENTRY = '>I8c16'

-- Writes down the times of `ids`; `times` has one for each, 0 for never.
local function note_expiry(ids, times)
  local newest = redis.call('LINDEX', EXPIRY, 0)
  local latest = newest and struct.unpack(ENTRY, newest) or 0
  local entries, odd = {}, {}
  for n, id in ipairs(ids) do
    local expires = times[n]
    if expires > 0 and expires + TOLERANCE < latest then
      odd[#odd + 1], odd[#odd + 2] = expires, id
    elseif expires > 0 then
      latest = math.max(latest, expires)
      entries[#entries + 1] = struct.pack(ENTRY, latest, id)
    end
  end
  if #entries > 0 then redis.call('LPUSH', EXPIRY, unpack(entries)) end
  if #odd > 0 then redis.call('ZADD', EXPIRY_ODD, unpack(odd)) end
end

-- Shortens the list from its old end, if most of it may be of settled messages: by twice as many
-- as were settled just now, so that it shrinks faster than it can grow.
local function tidy_expiry(settled)
  local known = redis.call('HLEN', PAYLOAD)
  if known == 0 then
    redis.call('UNLINK', EXPIRY)
  elseif redis.call('LLEN', EXPIRY) > 2 * known + SPARE then
    local entries = redis.call('LRANGE', EXPIRY, -2 * settled - 10, -1)
    redis.call('LTRIM', EXPIRY, 0, -1 - #entries)
    for _, entry in ipairs(entries) do
      local expires, id = struct.unpack(ENTRY, entry)
      if redis.call('HEXISTS', PAYLOAD, id) == 1 then
        redis.call('ZADD', EXPIRY_ODD, 'NX', expires, id)
      end
    end
  end
end
