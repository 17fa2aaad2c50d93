-- A record as anybody may see it. It writes nothing.
local function view(of, record, frozen)
  local held = record.state ~= 'free'
  return {of, record.state, text(record.fence), held and record.term or '', held and record.holder or '',
    held and record.metadata or '', text(held and record.ttl or 0), text(record.granted), text(record.renewed),
    text(record.expires), record.reason, text(redis.call('ZCOUNT', key_of('w', of), '(' .. text(now), '+inf')),
    text(held and 0 or frozen), text(now)}
end
