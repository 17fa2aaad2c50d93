-- The longest ttl of a Redis that may forget: what the first program said. All programs share it,
-- since each waits for it after a restart. Who has granted for so long before, and meets a Redis that
-- has forgotten it and heard less from another program, makes it longer again.
-- ARGV: 5 what this program says; 6 'again': it has granted for so long before.
-- Result: what holds; for how much longer nothing is granted.
local wanted = tonumber(ARGV[5])
if redis.call('HSETNX', prefix .. 'settings', 'max_ttl', ARGV[5]) == 0 and ARGV[6] == 'again' and agreed_ttl() < wanted then
  redis.call('HSET', prefix .. 'settings', 'max_ttl', ARGV[5])
end
may_forget = agreed_ttl()
return {text(may_forget), text(math.max(frozen_until() - now, 0))}
