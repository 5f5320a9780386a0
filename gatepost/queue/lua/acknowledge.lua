#!lua flags=allow-oom
-- acknowledge: delivered; the messages are forgotten.
--
-- KEYS     the partition's (keys.py)
-- ARGV     for each delivery: id, tag
-- Returns  a character for each: '1' applied, '0' refused (the delivery no longer held the
--          message)
-- Keeps    only the holder settles, once; the next of an ordering key may go.
--@use clock record places lines expiry settling

local ids, records, _, answers = held(1, 2)
forget(ids, records)
return answers
