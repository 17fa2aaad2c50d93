-- Takes away records of holdings that are over. ARGV: 4 and on: for each: seat, and the latest fence that is over.
-- Result: 'ok', now, how many are gone. What is not there, or is of a later holding, counts as gone.
for i = 4, #ARGV, 2 do
  local record = load(ARGV[i])
  if record and record.fence <= tonumber(ARGV[i + 1]) then redis.call('DEL', prefix .. 'seat:' .. ARGV[i]) end
end
return {'ok', text(now), (#ARGV - 3) / 2}
