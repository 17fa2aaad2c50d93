-- Takes seats of the licences of a file (argument 1) and keeps them: their sessions are added to a file (2); so many (3),
-- and then asks for nothing that changes anything.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")
dofile(here .. "seats_common.lua")

local keys, mark, count, most, sessions = {}, "", 0, 0, nil

function init(args)
  keys = lines_of(args[1])
  sessions = io.open(args[2], "a")
  most = tonumber(args[3]) + 1   -- wrk asks for one to look at it, and does not send that
  mark = run_mark()
end

function request()
  if count >= most then return wrk.format("GET", "/api/v1/licenses?limit=1") end
  count = count + 1
  return acquire_of(keys[count % #keys + 1], mark .. count)
end

function response(status, headers, body)
  if status == 201 then
    sessions:write(session_in(body), "\n")
    sessions:flush()
  end
end
