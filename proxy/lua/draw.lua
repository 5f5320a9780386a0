#!lua flags=allow-oom
-- draw: tokens are taken out of a client's bucket, ahead of the messages that will use them.
--
-- KEYS     the bucket (HASH: tokens, at in µs)
-- ARGV     tokens a second, tokens the bucket holds, tokens wanted, without how many none is drawn
-- Returns  tokens drawn (whole ones, perhaps 0), tokens left, ms until there will be enough
-- Keeps    over any time, no more tokens leave than the bucket held plus what flowed in

local rate, burst, wanted, least = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local tokens, at = unpack(redis.call('HMGET', KEYS[1], 'tokens', 'at'))
tokens = math.min(burst, (tonumber(tokens) or burst) + math.max(0, now - (tonumber(at) or now)) * rate / 1000000)
local drawn = math.min(wanted, math.floor(tokens))
if drawn < least then drawn = 0 end
tokens = tokens - drawn
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', string.format('%d', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate * 1000) + 1000)
return {drawn, math.floor(tokens), drawn > 0 and 0 or math.ceil((least - tokens) / rate * 1000)}
