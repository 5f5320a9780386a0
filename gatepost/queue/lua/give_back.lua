#!lua flags=allow-oom
-- give_back: not tried after all; the messages go back to the head, first of the batch first.
--
-- KEYS     the partition's (keys.py)
-- ARGV     for each delivery: id, tag
-- Returns  a character for each: '1' applied, '0' refused
-- Keeps    only the holder settles, once. It is as if they hadn't been reserved: no attempt is
--          counted.
--@use clock record places lines expiry settling

-- One that was reserved was at the head. One that was taken because it has expired has left its
-- ghost in the list, so it joins behind it: of equal ids in a list the foremost must be the ghosts.
local function wait_again(record, id)
  if has(record, COUNTED) then
    wait_at_head(record, id)
  else
    wait_at_tail(record, id)
  end
end

local ids, records, _, answers = held(1, 2)
for n = #ids, 1, -1 do
  local id, record = ids[n], records[n]
  local uncount = has(record, COUNTED) and -1 or 0
  redis.call('HSET', META, id, changed(record, NO_TAG, 0, COUNTED, uncount))
  redis.call('ZREM', LEASED, id)
  if may_go(record, id) then wait_again(record, id) end
end
ring()
return answers
