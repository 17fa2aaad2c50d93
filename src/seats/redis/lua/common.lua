-- What every script of seats begins with: which Redis this is, and its time.
--
-- ARGV: 1 the prefix of all keys; 2 the identity of the Redis that is meant; 3 the epoch. The rest is each script's own.
-- A record is "FENCE EPOCH SOFT HORIZON BEAT": the holding, the epoch in which it was put there, until when this Redis has
-- promised the seat, the time behind which it may not promise it, and the last heartbeat that it kept (0: none), which is
-- for people alone. Times are this Redis's, in ms.
-- Redis runs one script at a time and reads its clock inside, so a decision and its write are one step by one clock. The
-- identity is compared inside, too: no proxy and no quick restart can hide that another Redis answers. Fences are below
-- 2^53, which a Lua number holds exactly; %.0f writes all of its digits.
local DAY = 86400000

local prefix, epoch = ARGV[1], tonumber(ARGV[3])
local identity = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '.' ..
                 string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if ARGV[2] ~= '' and ARGV[2] ~= identity then return {'other', identity, string.format('%.0f', now)} end

local function text(number) return string.format('%.0f', number) end

-- What is no record of ours counts as none: it is asked from SQL.
local function load(seat)
  local value = redis.call('GET', prefix .. 'seat:' .. seat)
  if not value then return nil end
  local fence, of, soft, horizon, beat = string.match(value, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  if not fence then return nil end
  return {fence = tonumber(fence), epoch = tonumber(of), soft = tonumber(soft), horizon = tonumber(horizon), beat = tonumber(beat)}
end

local function save(seat, record)
  redis.call('SET', prefix .. 'seat:' .. seat,
             text(record.fence) .. ' ' .. text(record.epoch) .. ' ' .. text(record.soft) .. ' ' .. text(record.horizon) .. ' ' ..
                 text(record.beat),
             'PXAT', text(record.horizon + DAY))
end
