-- Leases in order of name, from at most 200 names.
-- ARGV: 4 the prefix of their names, 5 the name after which to begin, or ''; 6 how many to look at,
-- at most.
-- Result: the last name that was looked at, or '' when there are no more; views.
local from = ARGV[5] > name and '(' .. ARGV[5] or '[' .. name
local to = name == '' and '+' or '[' .. name .. '\255'
if from == '[' then from = '-' end
local count = math.min(tonumber(ARGV[6]), 200)
local names = redis.call('ZRANGEBYLEX', prefix .. 'names', from, to, 'LIMIT', 0, count)
local frozen = frozen_until()
local views = {}
for _, of in ipairs(names) do
  local record = load(of)
  if record.known then views[#views + 1] = view(of, record, frozen) end
end
return {#names == count and names[count] or '', views}
