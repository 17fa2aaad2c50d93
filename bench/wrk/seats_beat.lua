-- Heartbeats of the sessions of a file (argument 1), one call each, in random order.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")
dofile(here .. "seats_common.lua")

local requests = {}

function init(args)
  run_mark()
  for _, session in ipairs(lines_of(args[1])) do
    requests[#requests + 1] = wrk.format("PATCH", "/api/v1/licenses/sessions/" .. session .. "/heartbeat")
  end
end

function request()
  return requests[math.random(#requests)]
end
