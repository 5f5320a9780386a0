#!lua flags=allow-oom
-- purge: everything in the partition is forgotten, but for the dead index.
--
-- KEYS     the partition's (keys.py)
-- ARGV     none
-- Returns  how many messages there were
-- Keeps    what is leased settles too late; constant cost, the memory is freed in the background.

local known = redis.call('HLEN', PAYLOAD)
redis.call('UNLINK', PAYLOAD, META, LEASED, DELAYED, EXPIRY, EXPIRY_ODD)
redis.call('UNLINK', LINES, GHOSTS, TURNS, EXPOSED, SIGNAL, unpack(KEYS, READY))
return known
