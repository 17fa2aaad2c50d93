-- What this Redis knows of seats that SQL takes for dead. It changes nothing.
-- ARGV: 4 the margin; then the seats.
-- Result: 'ok', now, and for each: in how many ms it may be dead (0: it is), until when it was promised last, its fence,
-- and the last heartbeat that was kept here; or -1 and zeros: this epoch has no record of it, which says nothing.
local result = {'ok', text(now)}
for i = 5, #ARGV do
  local record = load(ARGV[i])
  if not record or record.epoch ~= epoch then
    result[#result + 1] = -1
    for _ = 1, 3 do result[#result + 1] = '0' end
  else
    result[#result + 1] = math.max(0, record.soft + tonumber(ARGV[4]) - now)
    result[#result + 1] = text(record.soft)
    result[#result + 1] = text(record.fence)
    result[#result + 1] = text(record.beat)
  end
end
return result
