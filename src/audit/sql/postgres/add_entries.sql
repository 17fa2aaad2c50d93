-- Adds acts to the audit, in the transaction that carries them out.
-- Parameters: $1 now_ms, $2 tenant[], $3 person[], $4 address[], $5 request_id[], $6 act[], $7 object[], $8 detail[]
-- Locks: none that anybody waits for
insert into tenure.audit (at_ms, tenant, person, address, request_id, act, object, detail)
select $1::bigint, item.tenant, item.person, item.address, item.request_id, item.act, item.object, item.detail
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) with ordinality
       as item (tenant, person, address, request_id, act, object, detail, ordinal)
 order by item.ordinal
