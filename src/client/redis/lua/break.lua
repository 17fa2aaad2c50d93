-- Ends a grant by an operator: it is not renewed any more; the next one comes when its deadline, or
-- the drain time, has passed. By force: at once.
-- ARGV: 5 reason, 6 drain, 7 'force' or '', 8 the only fence to break, or ''.
-- Result: unknown; broken or not, holder, fence, from when on it may be granted again.
local drain, fence = tonumber(ARGV[6]), tonumber(ARGV[8])
local record = load(name)
if not record.known then return {'unknown'} end
local holder = record.holder
if record.state == 'free' or (fence and fence ~= record.fence) then
  return {'not', holder, text(record.fence), text(math.min(record.expires, now))}
end
if ARGV[7] == 'force' then
  finish(record, 'broken', now, ARGV[5])
else
  record.state, record.reason, record.expires = 'broken', ARGV[5], math.max(record.expires, now + drain)
end
save(record)
wake()
return {'broken', holder, text(record.fence), text(record.expires)}
