-- PUT /sessions with the keys of a file (argument 1), one after the other: sessions that exist.
-- The requests are made beforehand, so that the client costs little.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")

local requests = {}
local next_one = 0

function init(args)
  wrk.method = "PUT"
  wrk.headers["Content-Type"] = "application/json"
  authorize()
  for line in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format(nil, nil, nil, line)
  end
end

function request()
  next_one = next_one % #requests + 1
  return requests[next_one]
end
