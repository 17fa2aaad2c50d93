-- The longest ttl of a Redis that may forget: what the first program said. All programs share it,
-- since each waits for it after a restart.
-- ARGV: 5 what this program says.
-- Result: what holds.
redis.call('HSETNX', prefix .. 'settings', 'max_ttl', ARGV[5])
return redis.call('HGET', prefix .. 'settings', 'max_ttl')
