-- Which Redis this is, and its time. Result: 'ok', identity, now.
-- A replica and one that is full refuse the write: they keep no heartbeats, and are away.
redis.call('SET', prefix .. 'seat-ledger', '1', 'PX', 60000)
return {'ok', identity, text(now)}
