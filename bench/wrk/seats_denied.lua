-- Acquire of the licence whose key is the first line of a file (argument 1), by machines that have no seat: it is full. The
-- server's own count says whether each was denied.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")
dofile(here .. "seats_common.lua")

local requests = {}

function init(args)
  local key, mark = lines_of(args[1])[1], run_mark()
  for i = 1, 1000 do requests[i] = acquire_of(key, mark .. i) end
end

function request()
  return requests[math.random(#requests)]
end

local plain_done = done
function done(summary, latency)
  summary.errors.status = 0   -- wrk takes 403 for an error
  plain_done(summary, latency)
end
