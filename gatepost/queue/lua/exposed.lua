#!lua flags=no-writes
-- exposed: some of the messages that only Redis has, picked at random so that none holds up the
-- others.
--
-- KEYS     the partition's (keys.py)
-- ARGV     how many at most
-- Returns  for each: id, its record, its payload with the record in front of it
--@use record

local reply = {}
for _, id in ipairs(redis.call('SRANDMEMBER', EXPOSED, ARGV[1])) do
  local body = redis.call('HGET', PAYLOAD, id)
  if body then
    reply[#reply + 1] = id
    reply[#reply + 1] = redis.call('HGET', META, id) or record_in_front_of(body)
    reply[#reply + 1] = body
  end
end
return reply
