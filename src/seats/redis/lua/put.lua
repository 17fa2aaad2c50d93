-- Records of holdings that were adopted: SQL has promised them, and knows of their horizon.
-- ARGV: 4 until when this counts; then for each: seat, fence, ttl, horizon.
-- Result: 'ok', now, and for each: 1 it is there, -1 the record is of a later holding or epoch; or 'late', now: nothing was
-- done. Neither what was told nor a horizon is ever lowered.
if now > tonumber(ARGV[4]) then return {'late', text(now)} end
local result = {'ok', text(now)}
for i = 5, #ARGV, 4 do
  local before = load(ARGV[i])
  local fence, horizon = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 3])
  if before and (before.epoch > epoch or (before.epoch == epoch and before.fence > fence)) then
    result[#result + 1] = -1
  else
    local record = {fence = fence, epoch = epoch, soft = math.min(now + tonumber(ARGV[i + 2]), horizon), horizon = horizon,
                    beat = before and before.fence == fence and before.beat or 0}
    if before and before.epoch == epoch then
      record.soft, record.horizon = math.max(record.soft, before.soft), math.max(horizon, before.horizon)
    end
    save(ARGV[i], record)
    result[#result + 1] = 1
  end
end
return result
