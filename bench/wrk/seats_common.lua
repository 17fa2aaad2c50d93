-- What the scripts over seats share: the lines of a file, ids that no other run has, answers that are not as expected.
function lines_of(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

function run_mark()
  local seed = io.open("/dev/urandom", "rb")
  local a, b, c, d = seed:read(4):byte(1, 4)
  seed:close()
  math.randomseed(a + 256 * (b + 256 * (c + 256 * d)))
  return string.format("%02x%02x%02x%02x", a, b, c, d)
end

function acquire_of(key, machine)
  return wrk.format("POST", "/api/v1/licenses/acquire", {["Content-Type"] = "application/json"},
    '{"license_key":"' .. key .. '","machine_id":"' .. machine .. '"}')
end

function session_in(body)
  return body:match('"session_id":"([^"]+)"')
end
