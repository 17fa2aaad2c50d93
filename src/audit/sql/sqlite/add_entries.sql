-- Adds an act to the audit, in the transaction that carries it out.
-- Parameters: ?1 now_ms, ?2 tenant, ?3 person, ?4 address, ?5 request_id, ?6 act, ?7 object, ?8 detail
insert into audit (at_ms, tenant, person, address, request_id, act, object, detail)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
