-- Acquire, heartbeat and release of seats of the licences of a file (argument 1): what was answered decides what is asked
-- next, so each step of a seat follows the answer to the one before.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")
dofile(here .. "seats_common.lua")

local keys, mark, count = {}, "", 0
local to_beat, to_release = {}, {}

function init(args)
  keys = lines_of(args[1])
  mark = run_mark()
end

function request()
  local session = table.remove(to_release)
  if session then return wrk.format("DELETE", "/api/v1/licenses/sessions/" .. session) end
  session = table.remove(to_beat)
  if session then return wrk.format("PATCH", "/api/v1/licenses/sessions/" .. session .. "/heartbeat") end
  count = count + 1
  return acquire_of(keys[math.random(#keys)], mark .. count)
end

function response(status, headers, body)
  if status == 201 then to_beat[#to_beat + 1] = session_in(body) end
  if status == 200 then to_release[#to_release + 1] = session_in(body) end
end
