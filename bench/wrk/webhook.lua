-- Webhooks, signed, each a delivery of its own. Argument 1: a file with a signature and a body in each line. A signature is of
-- the body alone, so deliveries of one issue share it.
local here = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(here .. "common.lua")
dofile(here .. "seats_common.lua")

local signatures, bodies, mark, count = {}, {}, "", 0

function init(args)
  for i, line in ipairs(lines_of(args[1])) do
    signatures[i], bodies[i] = line:match("^(%S+) (.*)$")
  end
  mark = run_mark()
end

function request()
  count = count + 1
  local i = math.random(#bodies)
  return wrk.format("POST", "/webhooks/github", {
    ["Content-Type"] = "application/json",
    ["X-GitHub-Event"] = "issues",
    ["X-GitHub-Delivery"] = mark .. "-" .. count,
    ["X-GitHub-Hook-ID"] = "42",
    ["X-Hub-Signature-256"] = signatures[i],
  }, bodies[i])
end
