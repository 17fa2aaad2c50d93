-- Ends a grant by its holder. Who only waits, and leaves, releases too: the term may have been
-- granted without its knowledge.
-- ARGV: 5 term, 6 fence, or '' when it is not known.
-- Result: released; not, reason.
local term, fence = ARGV[5], tonumber(ARGV[6])
local record = load(name)
leave(term)
if record.state == 'free' or record.term ~= term then
  if record.state == 'free' then wake() end
  return {'not', fate(record, term, fence) or 'unknown'}
end
if fence and fence ~= record.fence then return {'not', 'unknown'} end
finish(record, 'released', now, '')
save(record)
wake()
return {'released'}
