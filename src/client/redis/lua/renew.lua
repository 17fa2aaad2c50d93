-- Restarts the deadline of a live grant.
-- ARGV: 5 term, 6 fence, 7 ttl or '' for the one before.
-- Result: granted …; lost, reason.
local term, fence = ARGV[5], tonumber(ARGV[6])
local record = load(name)
if record.state == 'free' or record.term ~= term then return {'lost', fate(record, term, fence) or 'unknown'} end
if record.fence ~= fence then return {'lost', 'unknown'} end
if record.state == 'broken' then return {'lost', 'broken'} end
hold(record, tonumber(ARGV[7]) or record.ttl)
save(record)
return granted(record)
