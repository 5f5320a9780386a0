-- The lines: the ordered ids of each key, one behind the other, in one sorted set by bytes. A
-- member is line (16), place (6), id (16). Only the first of a line may be ready, leased for
-- delivery or delayed; the others stand in line.

local PAST_THE_LINE = string.rep('\255', 23)

local function member_of(record, id)
  return string.sub(record, HEAD_SIZE + 1, HEAD_SIZE + 22) .. id
end

local function line_of(record)
  return string.sub(record, HEAD_SIZE + 1, HEAD_SIZE + 16)
end

local function first_of(line)
  local from, to = '[' .. line, '(' .. line .. PAST_THE_LINE
  return redis.call('ZRANGE', LINES, from, to, 'BYLEX', 'LIMIT', 0, 1)[1]
end

local function next_place(line)
  local from, to = '(' .. line .. PAST_THE_LINE, '[' .. line
  local last = redis.call('ZRANGE', LINES, from, to, 'BYLEX', 'REV', 'LIMIT', 0, 1)[1]
  if not last then return 1 end
  return struct.unpack('>I6', string.sub(last, 17, 22)) + 1
end

local function may_go(record, id)
  return not is_ordered(record) or first_of(line_of(record)) == member_of(record, id)
end

local function due_of(record)
  return (struct.unpack('>I8', string.sub(record, 57, 64)))
end

local function with_due(record, due)
  return string.sub(record, 1, 56) .. struct.pack('>I8', due)
end

-- The first of a line may go: now, or when it is due. One that is leased, because it has expired,
-- stays with its holder.
local function let_first_go(line)
  local first = first_of(line)
  if not first then return end
  local id = string.sub(first, 23)
  if redis.call('ZSCORE', LEASED, id) then return end
  local record = read_record(id)
  local due = due_of(record)
  if due * 1000 > now_us() then
    redis.call('ZADD', DELAYED, due, id)
  else
    wait_at_tail(record, id)
    ring()
  end
end

-- An id leaves its line for good; if it was the first, the next may go.
local function leave_line(record, id)
  local was_first = may_go(record, id)
  redis.call('ZREM', LINES, member_of(record, id))
  if was_first then let_first_go(line_of(record)) end
end

-- Takes a waiting id out of the place it is in: ready, delayed, or behind another.
local function leave_place(record, id)
  if redis.call('ZREM', DELAYED, id) == 1 or not may_go(record, id) then return end
  leave_ghost(record, id)
end
