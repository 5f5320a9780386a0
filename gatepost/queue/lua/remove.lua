#!lua flags=allow-oom
-- remove: messages are taken out, wherever they are, and forgotten.
--
-- KEYS     the partition's (keys.py)
-- ARGV     ids
-- Returns  a character for each: '1' removed, '0' not known
-- Keeps    a holder settles too late; the next of an ordering key may go; the dead index forgets
--          it too.
--@use clock record places lines expiry

local answers = {}
for n, id in ipairs(ARGV) do
  local record = read_record(id)
  answers[n] = record and '1' or '0'
  if record then
    if redis.call('ZREM', LEASED, id) == 0 then leave_place(record, id) end
    if is_ordered(record) then leave_line(record, id) end
    redis.call('HDEL', PAYLOAD, id)
    redis.call('HDEL', META, id)
    redis.call('ZREM', EXPIRY_ODD, id)
    redis.call('SREM', EXPOSED, id)
  end
  redis.call('ZREM', DEAD, id)
end
tidy_expiry(#ARGV)
sweep_ghosts(1000)
return table.concat(answers)
