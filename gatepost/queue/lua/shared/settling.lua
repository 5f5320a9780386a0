-- Settling. ARGV names deliveries in groups that begin with id and tag. A delivery holds its
-- message until it is settled or the lease is taken back; what no longer holds is refused, each
-- for itself.

-- Returns the ids and records that are held, the place in ARGV of each, and the answers ('1',
--          '0').
local function held(first, width)
  local asked, ids, records, positions, answers = {}, {}, {}, {}, {}
  for i = first, #ARGV, width do asked[#asked + 1] = ARGV[i] end
  local found = redis.call('HMGET', META, unpack(asked))
  local seen = {}
  for n, id in ipairs(asked) do
    local position = first + (n - 1) * width
    if found[n] and not seen[id] and tag_of(found[n]) == ARGV[position + 1] then
      seen[id] = true
      ids[#ids + 1], records[#records + 1], positions[#positions + 1] = id, found[n], position
      answers[n] = '1'
    else
      answers[n] = '0'
    end
  end
  return ids, records, positions, table.concat(answers)
end

-- Forgets leased ids: nothing of them is left but what the caller writes elsewhere.
local function forget(ids, records)
  if #ids == 0 then return end
  for n, record in ipairs(records) do
    if is_ordered(record) then leave_line(record, ids[n]) end
  end
  redis.call('ZREM', LEASED, unpack(ids))
  redis.call('HDEL', PAYLOAD, unpack(ids))
  redis.call('HDEL', META, unpack(ids))
  redis.call('ZREM', EXPIRY_ODD, unpack(ids))
  redis.call('SREM', EXPOSED, unpack(ids))
  tidy_expiry(#ids)
end
