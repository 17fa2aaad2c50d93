-- Heartbeats. ARGV: 4 half of the horizon that an adoption gives; then for each: seat, fence, ttl.
-- Result: 'ok', now, and for each: ms left and whether half of its horizon is used up; or why not: -1 no record of this
-- holding and epoch, -2 its time here has passed. Late is late: only SQL revives.
local half = tonumber(ARGV[4])
local result = {'ok', text(now)}
local function add(left, is_half_gone)
  result[#result + 1] = left
  result[#result + 1] = is_half_gone
end
for i = 5, #ARGV, 3 do
  local record = load(ARGV[i])
  if not record or record.fence ~= tonumber(ARGV[i + 1]) or record.epoch ~= epoch then
    add(-1, 0)
  elseif record.soft <= now then
    add(-2, 0)
  else
    -- Never less than was told, and never beyond what SQL knows of.
    record.soft = math.max(record.soft, math.min(now + tonumber(ARGV[i + 2]), record.horizon))
    record.beat = now
    save(ARGV[i], record)
    add(record.soft - now, record.horizon - now < half and 1 or 0)
  end
end
return result
