-- Adds one act to the audit, in a transaction of maintenance. Everything is text.
-- Parameters: ?1 now_ms, ?2 person, ?3 address, ?4 act, ?5 object, ?6 detail
insert into audit (at_ms, tenant, person, address, request_id, act, object, detail)
values (cast(?1 as integer), '', ?2, ?3, '', ?4, ?5, ?6)
