-- Redis's own time in microseconds: the only clock of the engine. A test may put another in its
-- place.
local function now_us()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end
