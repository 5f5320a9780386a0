#!lua
-- claim: an Idempotency-Key becomes the first message's that is posted under it.
--
-- KEYS     the claim (HASH: id, payload, done, until)
-- ARGV     id (16 bytes), MAC of the payload, seconds a post may be under way, seconds a claim lives
-- Returns  0 = yours, 1 = another's under way, 2 = done; then the id and the payload's MAC to go by,
--          and how durable the message is, once that is known
-- Keeps    one id for each key: a repeat of one who died goes on with the same id, if it says the same

local now = tonumber(redis.call('TIME')[1])
local id, payload, done, busy_until = unpack(redis.call('HMGET', KEYS[1], 'id', 'payload', 'done', 'until'))
if id then
  if done then return {2, id, payload, done} end
  if now < tonumber(busy_until) or payload ~= ARGV[2] then return {1, id, payload, 'full'} end
else
  id, payload = ARGV[1], ARGV[2]
end
redis.call('HSET', KEYS[1], 'id', id, 'payload', payload, 'until', now + tonumber(ARGV[3]))
redis.call('EXPIRE', KEYS[1], ARGV[4])
return {0, id, payload, 'full'}
