-- Grants a name, or says why not.
-- ARGV: 5 term, 6 ttl, 7 holder, 8 metadata, 9 what the asker does when it is not granted: 'go', or
-- 'wait' in line, or 'leave' the line.
-- Result: granted …; held, reason, holder, fence, expires, retry_after, now; ended, reason.
local term, ttl, mode = ARGV[5], tonumber(ARGV[6]), ARGV[9]
local record = load(name)

local function refuse(reason, holder, expires, retry)
  if mode == 'wait' then
    if not redis.call('ZSCORE', key_of('q', name), term) then
      -- A record that was forgotten counts from 1 again while tickets may stand.
      local last = redis.call('ZREVRANGE', key_of('q', name), 0, 0, 'WITHSCORES')[2]
      record.ticket = math.max(record.ticket, tonumber(last or '0')) + 1
      redis.call('ZADD', key_of('q', name), text(record.ticket), term)
      if record.known then redis.call('HSET', key_of('l', name), 'ticket', text(record.ticket)) end
    end
    redis.call('ZADD', key_of('w', name), text(now + TICKET), term)
    redis.call('PEXPIREAT', key_of('q', name), text(now + KEEP))
    redis.call('PEXPIREAT', key_of('w', name), text(now + KEEP))
  end
  if mode == 'leave' then
    leave(term)
    if record.state == 'free' then wake() end
  end
  return {'held', reason, holder, text(record.fence), text(expires), text(math.max(retry, 1)), text(now)}
end

if record.state ~= 'free' and record.term == term then  -- the reply was lost: the same grant
  if record.state == 'broken' then return {'ended', 'broken'} end
  hold(record, ttl)
  save(record)
  return granted(record)
end
local ended = fate(record, term)
if ended then
  leave(term)
  return {'ended', ended}
end
if record.state ~= 'free' then return refuse('held', record.holder, record.expires, record.expires - now) end
local frozen = frozen_until()
if frozen > 0 then return refuse('frozen', '', frozen, frozen - now) end  -- nobody is known to hold it
local first = first_in_line()
if first and first ~= term then
  local place = tonumber(redis.call('ZSCORE', key_of('w', name), first) or '0')
  return refuse('queued', record.holder, record.expires, place - now)
end

-- The clock keeps fences rising also when this Redis has forgotten all of them.
record.fence = math.max(record.fence + 1, now_us)
record.term, record.holder, record.metadata, record.state, record.reason = term, ARGV[7], ARGV[8], 'held', ''
record.granted = now
hold(record, ttl)
save(record)
leave(term)
redis.call('ZADD', prefix .. 'names', 0, name)
redis.call('ZADD', prefix .. 'used', text(now), name)
-- Names whose records have gone leave the lists, two for each grant.
for _, old in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'used', '-inf', text(now - KEEP), 'LIMIT', 0, 2)) do
  if redis.call('EXISTS', key_of('l', old)) == 1 then
    redis.call('ZADD', prefix .. 'used', text(now), old)
  else
    redis.call('ZREM', prefix .. 'used', old)
    redis.call('ZREM', prefix .. 'names', old)
  end
end
return granted(record)
