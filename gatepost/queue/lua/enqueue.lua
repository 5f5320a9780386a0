#!lua
-- enqueue: messages join the queue, in order, each once.
--
-- KEYS     the partition's (keys.py); the record (shared/record.lua)
-- ARGV     for each: id, facts (flags B, priority B, attempts I4, generation I4, due I8, expires
--          I8, line c16; times in ms, 0 = none), payload
-- Returns  a character for each: '1' new, '0' already there, '2' took an earlier generation's
--          place
-- Keeps    an id is known once, whatever place it is in; an ordered id is ready only as the first
--          of its line. This script alone is refused when Redis is out of memory.
--@use clock record places lines expiry

local FACTS = '>BBI4I4I8I8c16'
local EXPOSE = 128
local now = math.floor(now_us() / 1000)
local ready, added, expiring, exposing, answers = {}, {}, {}, {}, {}
local any_dead = redis.call('EXISTS', DEAD) == 1

-- What an earlier generation left is taken away; its holder, if any, settles too late.
local function supersede(id, record)
  if redis.call('ZREM', LEASED, id) == 0 then leave_place(record, id) end
  redis.call('HDEL', PAYLOAD, id)
  redis.call('HDEL', META, id)
  redis.call('ZREM', EXPIRY_ODD, id)
  redis.call('SREM', EXPOSED, id)
  if is_ordered(record) then leave_line(record, id) end
end

-- Writes down what was collected so far, many ids with one command.
local function flush()
  for priority, ids in pairs(ready) do redis.call('LPUSH', KEYS[READY + priority], unpack(ids)) end
  if #added > 0 then note_expiry(added, expiring) end
  if #exposing > 0 then redis.call('SADD', EXPOSED, unpack(exposing)) end
  ready, added, expiring, exposing = {}, {}, {}, {}
end

local function place(id, priority, due)
  if due > now then
    redis.call('ZADD', DELAYED, due, id)
  else
    local list = ready[priority] or {}
    list[#list + 1] = id
    ready[priority] = list
  end
end

local function add(id, facts, payload)
  local flags, priority, attempts, generation, due, expires, line = struct.unpack(FACTS, facts)
  local ordered = bit.band(flags, ORDERED)
  local since = math.max(now, due)
  local body = struct.pack(HEAD, ordered, priority, attempts, generation, since, expires, NO_TAG)
  local position = 1
  if ordered ~= 0 then
    position = next_place(line)
    body = body .. struct.pack(TAIL, line, position, due)
  end
  if redis.call('HSETNX', PAYLOAD, id, body .. payload) == 0 then return false, generation end
  if ordered ~= 0 then redis.call('ZADD', LINES, 0, line .. struct.pack('>I6', position) .. id) end
  if position == 1 then place(id, priority, due) end
  added[#added + 1], expiring[#expiring + 1] = id, expires
  if bit.band(flags, EXPOSE) ~= 0 then exposing[#exposing + 1] = id end
  if any_dead then redis.call('ZREM', DEAD, id) end
  return true
end

for i = 1, #ARGV, 3 do
  local id, answer = ARGV[i], '1'
  local is_new, generation = add(id, ARGV[i + 1], ARGV[i + 2])
  if not is_new then
    answer = '0'
    local record = read_record(id)
    local _, _, _, known = struct.unpack(HEAD, record)
    if generation > known then
      flush()
      supersede(id, record)
      add(id, ARGV[i + 1], ARGV[i + 2])
      answer = '2'
    end
  end
  answers[#answers + 1] = answer
end

flush()
ring()
return table.concat(answers)
