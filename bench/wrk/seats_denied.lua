-- Acquire of the licence whose key is the first line of a file (argument 1), by machines that have no seat: it is full.
-- Every answer must be 403.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")
dofile(here .. "seats_common.lua")

local threads, requests = {}, {}
denied = 0

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local key, mark = lines_of(args[1])[1], run_mark()
  for i = 1, 1000 do requests[i] = acquire_of(key, mark .. i) end
end

function request()
  return requests[math.random(#requests)]
end

function response(status)
  if status == 403 then denied = denied + 1 end
end

local plain_done = done
function done(summary, latency, made)
  local seen = 0
  for _, thread in ipairs(threads) do seen = seen + thread:get("denied") end
  summary.errors.status = summary.requests - seen
  plain_done(summary, latency, made)
end
