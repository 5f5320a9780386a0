#!lua flags=allow-oom
-- reserve: the next messages are taken under a lease, each counted as an attempt.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many at most, lease in µs, tag (8 bytes, never used before)
-- Returns  now in ms; 1 if only ghosts were met and it's worth calling again, else 0; then for
--          each message: id, its record, its payload with the record in front of it
-- Keeps    what is taken is leased in the same step. First in, first out within a priority. Of
--          several priorities the highest goes first, but every 8th message is of the lower ones
--          in turn, so that none waits for ever. What has lost a lease comes as a batch of its
--          own; where others wait as well, every 4th batch is of those.
--@use clock record places

local limit, lease, tag = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local ROUND, ROUND_OF_BATCHES, LOOK_AT_MOST = 8, 4, limit + 1000
local now = now_us()
local haunted = redis.call('EXISTS', GHOSTS) == 1
local ids, records = {}, {}
local looked, full = 0, false

-- Takes up to `count` messages from the head of one list; returns how many.
local function take(number, count)
  local list, class, got = KEYS[READY + number], string.char(number), 0
  while got < count and not full do
    local window = redis.call('LRANGE', list, got - count, -1)
    if #window == 0 then break end
    local found = redis.call('HMGET', META, unpack(window))
    for n = #window, 1, -1 do
      local id = window[n]
      if haunted and redis.call('HEXISTS', GHOSTS, class .. id) == 1 then
        lay_ghost(number, id)
      else
        got = got + 1
        ids[#ids + 1], records[#ids + 1] = id, found[n]
      end
    end
    redis.call('LTRIM', list, 0, -1 - #window)
    looked = looked + #window
    full = looked >= LOOK_AT_MOST
  end
  return got
end

-- Whether this batch is for what goes alone: it waits in the ready list 0.
local function is_turn_of_alone(others_wait)
  if redis.call('EXISTS', KEYS[READY]) == 0 then return false end
  return not others_wait or redis.call('HINCRBY', TURNS, 'batch', 1) % ROUND_OF_BATCHES ~= 0
end

-- The next of the lower priorities after the one that went last.
local function lower_after(waiting, last)
  for place = 2, #waiting do
    if waiting[place] < last then return place end
  end
  return 2
end

local function take_in_turns(waiting)
  local turn = tonumber(redis.call('HGET', TURNS, 'turn') or 0)
  local last = tonumber(redis.call('HGET', TURNS, 'lower') or 0)
  while #ids < limit and not full and #waiting > 0 do
    local place, count = 1, limit - #ids
    if #waiting > 1 and turn % ROUND == ROUND - 1 then
      place, count = lower_after(waiting, last), 1
    elseif #waiting > 1 then
      count = math.min(count, ROUND - 1 - turn % ROUND)
    end
    local priority = waiting[place]
    local got = take(priority, count)
    turn = turn + got
    if place > 1 and got > 0 then last = priority end
    if got < count and not full then table.remove(waiting, place) end
  end
  redis.call('HSET', TURNS, 'turn', turn % ROUND, 'lower', last)
end

local function lease_out()
  local leased, metas, reply = {}, {}, {}
  local bodies = redis.call('HMGET', PAYLOAD, unpack(ids))
  local count = 0
  for n, id in ipairs(ids) do
    local body = bodies[n]
    if body then
      count = count + 1
      local record = changed(records[n] or record_in_front_of(body), tag, COUNTED, 0, 1)
      leased[2 * count - 1], leased[2 * count] = now + lease + count - 1, id
      metas[2 * count - 1], metas[2 * count] = id, record
      reply[3 * count], reply[3 * count + 1], reply[3 * count + 2] = id, record, body
    end
  end
  if count > 0 then
    redis.call('ZADD', LEASED, unpack(leased))
    redis.call('HSET', META, unpack(metas))
  end
  return reply
end

local waiting = {}
for priority = 10, 1, -1 do
  if redis.call('EXISTS', KEYS[READY + priority]) == 1 then waiting[#waiting + 1] = priority end
end
if is_turn_of_alone(#waiting > 0) then take(0, 1) end
if #ids == 0 and #waiting == 1 then take(waiting[1], limit) end
if #ids == 0 and #waiting > 1 then take_in_turns(waiting) end
if #ids == 0 then take(0, 1) end -- the others were but ghosts

local reply = {}
if #ids > 0 then
  reply = lease_out()
  ring()
end
reply[1] = math.floor(now / 1000)
reply[2] = (#ids == 0 and full) and 1 or 0
return reply
