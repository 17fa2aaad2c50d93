-- PUT /sessions with a new random user each time: sessions that do not exist. One tenant
-- with 16 capacities.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")

local format, random = string.format, math.random
local heads, tails = {}, {}

function init(args)
  local seed = io.open("/dev/urandom", "rb")
  local a, b, c, d = seed:read(4):byte(1, 4)
  seed:close()
  math.randomseed(a + 256 * (b + 256 * (c + 256 * d)))

  wrk.method = "PUT"
  wrk.headers["Content-Type"] = "application/json"
  authorize()
  local mark = "00000000-0000-0000-0000-000000000000"
  for i = 1, 16 do
    local body = format('{"userObjectId":"%s","tenantObjectId":"11111111-1111-4111-8111-111111111111",' ..
      '"capacityId":"22222222-2222-4222-8222-%012x","sessionKind":1}', mark, i)
    local text = wrk.format(nil, nil, nil, body)
    local at = text:find(mark, 1, true)
    heads[i] = text:sub(1, at - 1)
    tails[i] = text:sub(at + #mark)
  end
end

function request()
  local i = random(16)
  return format("%s%08x-%04x-4%03x-8%03x-%06x%06x%s", heads[i], random(0, 0xffffffff),
    random(0, 0xffff), random(0, 0xfff), random(0, 0xfff), random(0, 0xffffff),
    random(0, 0xffffff), tails[i])
end
