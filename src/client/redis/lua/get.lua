-- One lease, and the grants of it that are over, newest first.
-- Result: nothing; or a view and a list of {fence, term, holder, granted, ended, how, detail}.
local record = load(name)
if not record.known then return {} end
return {view(name, record, frozen_until()), record.past}
