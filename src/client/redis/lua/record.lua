-- What every script of leases begins with: the record of a name, and what time has made of it.
--
-- ARGV: 1 the prefix of all keys; 2 the longest ttl that is ever granted, if a restart of this Redis
-- forgets grants, else 0; 3 for how much longer the asking program grants nothing, because it met
-- another server than before; 4 the name. The rest is each script's own.
-- Redis runs one script at a time and reads its clock inside, so a decision and its write are one
-- step by one clock. Numbers are written with %.0f: Lua itself prints only 14 digits of a fence.
local KEEP = 30 * 24 * 3600 * 1000  -- ms that a record outlives its last use
local TICKET = 3000                 -- ms that a place in the line outlives its holder's last word
local PAST = 8                      -- grants that are over and still told of

local prefix, may_forget, apart, name = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local clock = redis.call('TIME')
local now_us = clock[1] * 1000000 + clock[2]
local now = math.floor(now_us / 1000)

local function text(number) return string.format('%.0f', number) end

local function key_of(kind, of) return prefix .. kind .. ':{' .. of .. '}' end

-- Ends the grant of a record.
local function finish(record, how, at, detail)
  table.insert(record.past, 1, {text(record.fence), record.term, record.holder, text(record.granted), text(at), how, detail})
  record.past[PAST + 1] = nil
  record.state, record.term, record.expires, record.reason = 'free', '', at, ''
end

-- The record of a name as it is now: a grant whose time is over has ended, also when nobody has
-- written that down yet.
local function load(of)
  local v = redis.call('HMGET', key_of('l', of), 'fence', 'term', 'holder', 'metadata', 'ttl', 'granted', 'renewed', 'expires',
    'state', 'reason', 'past', 'ticket')
  local record = {
    known = v[1] ~= false, fence = tonumber(v[1] or '0'), term = v[2] or '', holder = v[3] or '', metadata = v[4] or '',
    ttl = tonumber(v[5] or '0'), granted = tonumber(v[6] or '0'), renewed = tonumber(v[7] or '0'),
    expires = tonumber(v[8] or '0'), state = v[9] or 'free', reason = v[10] or '', past = cjson.decode(v[11] or '[]'),
    ticket = tonumber(v[12] or '0')}
  if record.state == 'held' and record.expires <= now then finish(record, 'expired', record.expires, '') end
  if record.state == 'broken' and record.expires <= now then finish(record, 'broken', record.expires, record.reason) end
  return record
end

local function save(record)
  local key = key_of('l', name)
  redis.call('HSET', key, 'fence', text(record.fence), 'term', record.term, 'holder', record.holder, 'metadata', record.metadata,
    'ttl', text(record.ttl), 'granted', text(record.granted), 'renewed', text(record.renewed), 'expires', text(record.expires),
    'state', record.state, 'reason', record.reason, 'past', cjson.encode(record.past), 'ticket', text(record.ticket))
  redis.call('PEXPIREAT', key, text(math.max(now, record.expires) + KEEP))
end

-- How the grant of a term ended; nothing when that is not known (any more).
local function fate(record, term, fence)
  for _, past in ipairs(record.past) do
    if past[2] == term then
      if past[6] == 'expired' and fence and record.fence > fence then return 'taken-over' end
      return past[6]
    end
  end
  return nil
end

local function hold(record, ttl)
  record.ttl, record.expires, record.renewed = ttl, now + ttl, math.max(now, record.granted)
end

local function granted(record)
  return {'granted', text(record.fence), record.holder, record.metadata, text(record.ttl), text(record.granted),
    text(record.expires), text(now)}
end

-- The line: terms by the number of their tickets, and until when each ticket counts.
local function leave(term)
  redis.call('ZREM', key_of('q', name), term)
  redis.call('ZREM', key_of('w', name), term)
end

local function first_in_line()
  -- Who has not asked again in time has left.
  for _, term in ipairs(redis.call('ZRANGEBYSCORE', key_of('w', name), '-inf', text(now))) do leave(term) end
  return redis.call('ZRANGE', key_of('q', name), 0, 0)[1]
end

-- Tells whoever waits to ask again.
local function wake()
  if redis.call('ZCARD', key_of('q', name)) > 0 then redis.call('PUBLISH', prefix .. 'wake', name) end
end

-- The longest ttl on which all programs agreed; 0: there is none that makes sense.
local function agreed_ttl()
  return tonumber(redis.call('HGET', prefix .. 'settings', 'max_ttl') or '0') or 0
end

-- Until when nothing is granted; 0: it is. Nobody who was granted something before this process
-- started can believe in it once the process has been up for the longest ttl. Redis cuts its start
-- and the time to seconds before it subtracts them, so it may say 1 a moment after its start. What
-- counts is the latest start that fits: the answer is up to a second late, never early.
local function frozen_until()
  local at = apart > 0 and now + apart or 0
  if may_forget > 0 then
    local uptime = tonumber(string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)'))
    local latest_start = (math.floor(now / 1000) - uptime + 1) * 1000
    at = math.max(at, latest_start + math.max(may_forget, agreed_ttl()))
  end
  return at > now and at or 0
end
