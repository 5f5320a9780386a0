-- The record: what the engine knows of a message, in 34 bytes, or 64 for an ordered one.
--
--   head  flags, priority, attempts, generation, enqueued (ms), expires (ms, 0 = never), tag
--         enqueued is when it is due, if that was later: until then it waits for nobody
--   tail  line, place in the line, due (ms); only of an ordered message
--
-- It stands in front of the payload as it was enqueued. From its first change on, the one in META
-- counts. The tag is zero unless the message is leased.
local HEAD, HEAD_SIZE = '>BBI4I4I8I8c8', 34
local TAIL, FULL_SIZE = '>c16I6I8', 64
local ORDERED, COUNTED, ALONE = 1, 4, 8
local NO_TAG = string.rep('\0', 8)

local function has(record, flag)
  return bit.band(string.byte(record, 1), flag) ~= 0
end

local function is_ordered(record)
  return has(record, ORDERED)
end

local function record_in_front_of(body)
  if is_ordered(body) then return string.sub(body, 1, FULL_SIZE) end
  return string.sub(body, 1, HEAD_SIZE)
end

-- The record of an id, or nil if the queue doesn't know it.
local function read_record(id)
  local record = redis.call('HGET', META, id)
  if record then return record end
  local body = redis.call('HGET', PAYLOAD, id)
  return body and record_in_front_of(body)
end

local function priority_of(record)
  return string.byte(record, 2)
end

-- Which ready list it waits in: that of its priority, or the one of those to be reserved alone.
local function list_of(record)
  return has(record, ALONE) and 0 or priority_of(record)
end

local function enqueued_of(record)
  return (struct.unpack('>I8', string.sub(record, 11, 18)))
end

local function expires_of(record)
  return (struct.unpack('>I8', string.sub(record, 19, 26)))
end

local function tag_of(record)
  return string.sub(record, 27, 34)
end

-- The same record under another tag: `set` and `clear` are flags, `more` is added to the attempts.
local function changed(record, tag, set, clear, more)
  local flags, priority, attempts, generation, enqueued, expires = struct.unpack(HEAD, record)
  flags = bit.band(bit.bor(flags, set), bit.bnot(clear))
  attempts = attempts + more
  local head = struct.pack(HEAD, flags, priority, attempts, generation, enqueued, expires, tag)
  return head .. string.sub(record, HEAD_SIZE + 1)
end
