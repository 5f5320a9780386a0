#!lua flags=no-writes
-- peek: where messages are and how they fare, without touching them.
--
-- KEYS     the partition's (keys.py)
-- ARGV     ids
-- Returns  for each: place, record, when. The place is 'ready', 'leased', 'delayed', 'in line',
--          'dead' or '' (not known); `when` is the end of the lease (µs), the due time (ms) or the
--          score in the dead index; '' where there is none.
--@use clock record places lines

local function place_of(id, record)
  local ends = redis.call('ZSCORE', LEASED, id)
  if ends then return 'leased', ends end
  local due = redis.call('ZSCORE', DELAYED, id)
  if due then return 'delayed', due end
  return may_go(record, id) and 'ready' or 'in line', ''
end

local reply = {}
for _, id in ipairs(ARGV) do
  local record, place, when = read_record(id), '', ''
  if record then
    place, when = place_of(id, record)
  else
    local score = redis.call('ZSCORE', DEAD, id)
    if score then place, when = 'dead', score end
  end
  reply[#reply + 1] = place
  reply[#reply + 1] = record or ''
  reply[#reply + 1] = when
end
return reply
