-- Where an id can be: in a ready list, leased, delayed, or standing in its line behind another.
-- Exactly one of them, for each id in PAYLOAD.

local function wait_at_tail(record, id)
  redis.call('LPUSH', KEYS[READY + list_of(record)], id)
end

local function wait_at_head(record, id)
  redis.call('RPUSH', KEYS[READY + list_of(record)], id)
end

-- Wakes one waiter if something is ready. One token is enough: whoever reserves passes it on.
local function ring()
  if redis.call('EXISTS', SIGNAL) == 0 and redis.call('EXISTS', unpack(KEYS, READY)) > 0 then
    redis.call('LPUSH', SIGNAL, '1')
  end
end

-- An id in the middle of a list isn't searched for: its occurrence becomes a ghost, to be skipped.
local function leave_ghost(record, id)
  local class = string.char(list_of(record))
  redis.call('HINCRBY', GHOSTS, class .. id, 1)
  redis.call('HINCRBY', GHOSTS, class, 1)
end

local function lower(field)
  if redis.call('HINCRBY', GHOSTS, field, -1) == 0 then redis.call('HDEL', GHOSTS, field) end
end

local function lay_ghost(number, id)
  local class = string.char(number)
  lower(class .. id)
  lower(class)
end

-- Drops ghosts from the heads of the lists, so that nobody needs to reserve to have the memory
-- back.
local function sweep_ghosts(limit)
  if redis.call('EXISTS', GHOSTS) == 0 then return end
  for number = 0, 10 do
    local list, class = KEYS[READY + number], string.char(number)
    while limit > 0 and redis.call('HEXISTS', GHOSTS, class) == 1 do
      local id = redis.call('LINDEX', list, -1)
      if not id or redis.call('HEXISTS', GHOSTS, class .. id) == 0 then break end
      redis.call('RPOP', list)
      lay_ghost(number, id)
      limit = limit - 1
    end
  end
end
