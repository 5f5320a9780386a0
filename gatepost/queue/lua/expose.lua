#!lua flags=allow-oom
-- expose: notes that only Redis has these messages.
--
-- KEYS     the partition's (keys.py)
-- ARGV     ids
-- Returns  a character for each: '1' noted, '0' not known (settled meanwhile: the ledger has it)
-- Keeps    EXPOSED names no id that isn't in the queue.

local answers = {}
for n, id in ipairs(ARGV) do
  answers[n] = redis.call('HEXISTS', PAYLOAD, id) == 1 and '1' or '0'
  if answers[n] == '1' then redis.call('SADD', EXPOSED, id) end
end
return table.concat(answers)
