-- Notes a grant that is over. ?1 tenant, ?2 name, ?3 fence, ?4 term, ?5 holder, ?6 granted_ms, ?7 ended_ms, ?8 reason,
-- ?9 detail
insert into lease_history (tenant, name, fence, term, holder, granted_ms, ended_ms, reason, detail)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
